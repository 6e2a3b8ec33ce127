// copra storages.
import type { ArgumentSpec, CommandSpec } from "../command-spec.ts";

const NAME: ArgumentSpec = { name: "<name>", description: "The storage's name" };
const commands = () => import("../jobs/storages.ts");

export const STORAGE_COMMANDS: readonly CommandSpec[] = [
  { name: "storages ls", summary: "List saved storages", load: async () => (await commands()).listStorages },
  {
    name: "storages show",
    summary: "Show a saved storage, without its secrets",
    arguments: [NAME],
    load: async () => (await commands()).showStorage,
  },
  {
    name: "storages put",
    summary: "Save a storage, or replace it",
    arguments: [NAME, { name: "[file]", description: "The storage; standard input by default", complete: "file" }],
    examples: ["copra storages put main bucket.json", "copra encode video.mov --to hls --storage main"],
    load: async () => (await commands()).putStorage,
  },
  {
    name: "storages test",
    summary: "Store, read and remove a small object, also as a web page",
    arguments: [NAME],
    load: async () => (await commands()).testStorage,
  },
  {
    name: "storages rm",
    summary: "Delete saved storages",
    arguments: [{ name: "<names...>", description: "The storages' names" }],
    load: async () => (await commands()).deleteStorages,
  },
];
