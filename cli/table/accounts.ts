// Commands of the operator for accounts, keys and tokens.
import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";

const ACCOUNT: ArgumentSpec = { name: "<account>", description: "The account's id" };
const NAME: ArgumentSpec = { name: "<name>", description: "Any name, for people" };
const NUMBER: ArgumentSpec = { name: "<number>", description: 'A whole number, or "default"' };
const accounts = () => import("../operator/accounts.ts");
const credentials = () => import("../operator/credentials.ts");

export const ACCOUNT_COMMANDS: readonly CommandSpec[] = [
  { name: "accounts ls", summary: "List accounts", load: async () => (await accounts()).listAccounts },
  {
    name: "accounts create",
    summary: "Create an account; shows its API key and webhook secret once",
    arguments: [NAME],
    load: async () => (await accounts()).createAccount,
  },
  {
    name: "accounts limit",
    summary: "Set how many unfinished jobs an account may have",
    arguments: [ACCOUNT, NUMBER],
    load: async () => (await accounts()).setLimit("max_unfinished_jobs"),
  },
  {
    name: "accounts max-running",
    summary: "Set how many of an account's tasks may run at a time; by default any number",
    arguments: [ACCOUNT, NUMBER],
    load: async () => (await accounts()).setLimit("max_running"),
  },
  {
    name: "accounts max-priority",
    summary: "Let the priorities of an account's jobs up to this one count beside other accounts; by default none does",
    arguments: [ACCOUNT, { ...NUMBER, description: '-50 to 50, or "default"' }],
    load: async () => (await accounts()).setLimit("max_priority"),
  },
  {
    name: "accounts weight",
    summary: "Set an account's share of the nodes while others wait: 1 (new accounts) to 1000",
    arguments: [ACCOUNT, { ...NUMBER, description: "1 to 1000" }],
    load: async () => (await accounts()).setLimit("weight"),
  },
  {
    name: "accounts rotate-secret",
    summary: "Create a new webhook secret of an account; the old secret also signs for 24 hours",
    arguments: [ACCOUNT],
    load: async () => (await accounts()).rotateAccountSecret,
  },
  {
    name: "keys ls",
    summary: "List the API keys of an account",
    arguments: [ACCOUNT],
    load: async () => (await credentials()).listKeys,
  },
  {
    name: "keys create",
    summary: "Create another API key of an account; shown once",
    arguments: [ACCOUNT],
    options: [
      { flags: "--name <name>", description: "A name, for people: the program or person that uses the key" },
      {
        flags: "--scope <scope>",
        description: "Allow only some requests, such as jobs:create or jobs:read; separate several by commas",
        repeat: true,
      },
      { flags: "--expires <time>", description: "The end of its validity: a date, or a time from now such as 30d" },
    ],
    load: async () => (await credentials()).createKey,
  },
  {
    name: "keys revoke",
    summary: "Revoke an API key: requests with it get 401",
    arguments: [{ name: "<id>", description: "The key's id" }],
    load: async () => (await credentials()).revokeKey,
  },
  { name: "node-tokens ls", summary: "List the tokens of nodes", load: async () => (await credentials()).listTokens },
  {
    name: "node-tokens create",
    summary: "Create a token for nodes; shown once",
    arguments: [NAME],
    options: [
      { flags: "--pool <pool>", description: "Its nodes are only in this pool" },
      { flags: "--label <label>", description: "Its nodes have this label, too", repeat: true },
    ],
    load: async () => (await credentials()).createToken,
  },
  {
    name: "node-tokens revoke",
    summary: "Revoke a token: its nodes are disconnected at once",
    arguments: [{ name: "<id>", description: "The token's id" }],
    load: async () => (await credentials()).revokeToken,
  },
  {
    name: "audit",
    summary: "List who changed what, newest first: in the account of the API key, or in all accounts",
    options: [
      { flags: "--all-accounts", description: "All accounts and the service itself; needs the admin token" },
      { flags: "--actor <id>", description: "Only by this API key, or by the operator" },
      { flags: "--action <operation>", description: "Only this operation, such as cancelJob; createJob: created jobs" },
      { flags: "--object <object>", description: "Only this thing, such as jobs/3clA7G2GY8bXR5, or all jobs: jobs" },
      { flags: "-n, --limit <number>", description: "At most this many, up to 100; 20 by default" },
      { flags: "--cursor <cursor>", description: "The next page" },
    ],
    load: async () => (await accounts()).listAudit,
  },
  {
    name: "reseal",
    summary: "Encrypt all stored secrets with the first sealing key",
    load: async () => (await accounts()).resealSecrets,
  },
];
