// copra backup and copra restore.
import { resolve } from "node:path";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { runScript } from "./repository.ts";

export const backup: Run = async (_context, [data = ""], options) => {
  const file = textOption(options, "output");
  if (file === undefined) throw usageError("State the file to write: -o <file>");
  return runScript("local/backup/backup.ts", [resolve(data), resolve(file)]);
};

export const restore: Run = async (_context, [file = "", data = ""], options) =>
  runScript("local/backup/restore.ts", [
    ...[resolve(file), resolve(data)],
    ...(options.replace === true ? ["--replace"] : []),
  ]);
