// Options of all commands.
import type { OptionSpec } from "../command-spec.ts";

export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--url <url>", description: "URL of the service (COPRA_URL)" },
  { flags: "--key <key>", description: "API key; other users of this machine can read it there, unlike COPRA_API_KEY" },
  { flags: "--admin-token <token>", description: "Token of the operator (COPRA_ADMIN_TOKEN)" },
  { flags: "--profile <name>", description: "Profile of copra login (COPRA_PROFILE)" },
  { flags: "--json", description: "Write JSON to standard output" },
  { flags: "--quiet", description: "Write only results, warnings and errors" },
  { flags: "--no-color", description: "No colors (NO_COLOR)" },
];
