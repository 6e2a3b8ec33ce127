// copra login, logout, whoami and profiles.
import type { CommandSpec } from "../command-spec.ts";

const profiles = () => import("../system/profiles.ts");

export const PROFILE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "login",
    summary: "Store the URL and API key of a service as a profile, after a check",
    arguments: [{ name: "[url]", description: "URL of the service; https://encode.example.com" }],
    options: [{ flags: "--admin", description: "Ask for the operator's token, too" }],
    examples: ["copra login https://encode.example.com", "copra login encode.example.com --profile eu < key.txt"],
    load: async () => (await profiles()).login,
  },
  { name: "logout", summary: "Delete a profile", load: async () => (await profiles()).logout },
  {
    name: "whoami",
    summary: "Show which service and credentials commands use, and whether they are valid",
    load: async () => (await profiles()).whoami,
  },
  {
    name: "profiles",
    summary: "List profiles, or choose the current profile",
    arguments: [{ name: "[name]", description: "The profile to use from now on" }],
    load: async () => (await profiles()).listProfiles,
  },
];
