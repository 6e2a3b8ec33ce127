// copra templates.
import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";

const NAME: ArgumentSpec = { name: "<name>", description: "The template's name" };
const commands = () => import("../jobs/templates.ts");

export const TEMPLATE_COMMANDS: readonly CommandSpec[] = [
  { name: "templates ls", summary: "List templates", load: async () => (await commands()).listTemplates },
  {
    name: "templates show",
    summary: "Show a template, without its secrets",
    arguments: [{ name: "<name>", description: "The template's name, or a version such as web@3" }],
    examples: ["copra templates show web", "copra templates show web --json > web.json"],
    load: async () => (await commands()).showTemplate,
  },
  {
    name: "templates put",
    summary: "Store a new version of a template",
    arguments: [NAME, { name: "[file]", description: "The template; standard input by default", complete: "file" }],
    options: [
      { flags: "--if-version <number>", description: "Only if the newest version is this one; 0: only a new template" },
      { flags: "--keep-secrets", description: "Keep the secrets of the newest version that the file lacks" },
    ],
    examples: ["copra templates put web web.json", "copra templates put web web.json --keep-secrets --if-version 3"],
    load: async () => (await commands()).putTemplate,
  },
  {
    name: "templates token",
    summary: "Create a URL for events of buckets; it is shown once",
    arguments: [NAME],
    load: async () => (await commands()).createToken,
  },
  {
    name: "templates tokens",
    summary: "List the tokens of a template",
    arguments: [NAME],
    load: async () => (await commands()).listTokens,
  },
  {
    name: "templates revoke",
    summary: "Revoke a token of a template",
    arguments: [NAME, { name: "<id>", description: "The token's id" }],
    load: async () => (await commands()).revokeToken,
  },
  {
    name: "templates rm",
    summary: "Delete templates with all their versions",
    arguments: [{ name: "<names...>", description: "The templates' names" }],
    load: async () => (await commands()).deleteTemplates,
  },
];
