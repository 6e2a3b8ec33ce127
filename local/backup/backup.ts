// copra backup <data> <file>: writes all data of a service into one file, also while the service runs.
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { messageOf } from "#shared/log.ts";
import { readStackFile } from "../home/stack-file.ts";
import { runningStackPid } from "../processes/process-record.ts";
import { connectedNodes } from "../stack/readiness.ts";
import { pack } from "./archive.ts";
import { withDraft } from "./draft.ts";
import { takeSnapshot } from "./snapshot.ts";

try {
  const [home = "", file = ""] = process.argv.slice(2).map((path) => resolve(path));
  await backUp(home, file);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

async function backUp(home: string, file: string): Promise<void> {
  if (!existsSync(join(home, "secrets.json"))) throw new Error(`${home} has no data of a service`);
  await refuseForeign(home);
  if (existsSync(file)) throw new Error(`${file} exists already`);
  mkdirSync(dirname(file), { recursive: true });
  await withDraft(home, async (draft) => {
    const { files, frozenMs } = takeSnapshot(home, join(draft, "data"), new Date());
    await pack(join(draft, "data"), file);
    const size = `${files} files, ${(statSync(file).size / 1e6).toFixed(1)} MB`;
    const pause =
      frozenMs === 0 ? "The service was not running" : `The service stood still for ${frozenMs.toFixed(0)} ms`;
    console.log(`${file}: ${size}. ${pause}. It has all secrets of the service: keep it where nobody else reads it.`);
  });
}

/** Throws if the service's processes cannot be stopped from here, for example because they run in a container. */
async function refuseForeign(home: string): Promise<void> {
  const stack = readStackFile(home);
  if (stack === null || runningStackPid(home) !== null) return;
  // A crash leaves the file behind, too.
  if ((await connectedNodes(stack.api)) === null) return;
  throw new Error(
    `A service of ${home} responds at ${stack.api}, but not from this machine or container: run this there.`,
  );
}
