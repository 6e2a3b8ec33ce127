// All commands, in the order of the help.
import type { CommandGroup, CommandSpec } from "../command-spec.ts";
import { ACCOUNT_COMMANDS } from "./accounts.ts";
import { ENCODE_COMMANDS } from "./encode.ts";
import { FLEET_COMMANDS } from "./fleet.ts";
import { JOB_COMMANDS } from "./jobs.ts";
import { PROFILE_COMMANDS } from "./profiles.ts";
import { STORAGE_COMMANDS } from "./storages.ts";
import { SYSTEM_COMMANDS } from "./system.ts";
import { TEMPLATE_COMMANDS } from "./templates.ts";
import { WEBHOOK_COMMANDS } from "./webhooks.ts";

export const GROUPS: readonly CommandGroup[] = [
  { name: "jobs", summary: "List, follow, cancel and retry jobs, and see their tasks and commands" },
  { name: "webhooks", summary: "Receive webhooks on this machine, list them and send them again" },
  { name: "templates", summary: "Jobs that are stored under a name, with variables" },
  { name: "storages", summary: "Storages that are kept under a name" },
  { name: "uploads", summary: "List and delete uploads of local files" },
  { name: "upload-links", summary: "Links with which browsers upload files" },
  { name: "node", summary: "Run an encoder node on this machine; copra node --help shows its options" },
  { name: "nodes", summary: "List nodes, and give them no more work" },
  { name: "alerts", summary: "Messages to the operator about jobs, nodes and queues" },
  { name: "accounts", summary: "Create accounts and set their limits" },
  { name: "keys", summary: "API keys of accounts" },
  { name: "node-tokens", summary: "Tokens of nodes" },
];

const TOOL_COMMANDS: readonly CommandSpec[] = [
  {
    name: "mcp",
    summary: "Serve the Model Context Protocol on standard input and output, for assistants",
    load: async () => (await import("../mcp/mcp.ts")).mcp,
  },
  {
    name: "completion",
    summary: "Print a completion script for a shell",
    arguments: [{ name: "<shell>", description: "The shell", choices: ["bash", "zsh", "fish"] }],
    examples: ['eval "$(copra completion bash)"', "copra completion fish > ~/.config/fish/completions/copra.fish"],
    load: async () => (await import("../system/completion.ts")).completion,
  },
];

/** Sections of the help. */
const SECTIONS: readonly { readonly title: string; readonly commands: readonly CommandSpec[] }[] = [
  { title: "Encode", commands: ENCODE_COMMANDS },
  {
    title: "Jobs and files",
    commands: [...JOB_COMMANDS, ...TEMPLATE_COMMANDS, ...STORAGE_COMMANDS, ...WEBHOOK_COMMANDS],
  },
  { title: "Run the service", commands: SYSTEM_COMMANDS },
  { title: "Operate the service, with the admin token", commands: [...FLEET_COMMANDS, ...ACCOUNT_COMMANDS] },
  { title: "This command line", commands: [...PROFILE_COMMANDS, ...TOOL_COMMANDS] },
];

/** All commands, each with the title of its section in the help. */
export const COMMANDS: readonly (CommandSpec & { readonly section: string })[] = SECTIONS.flatMap(
  ({ title, commands }) => commands.map((command) => ({ ...command, section: title })),
);
