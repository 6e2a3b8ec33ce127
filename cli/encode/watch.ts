// copra encode --watch: encodes each file that appears in a folder.
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { folderOf } from "../connection/folders.ts";
import { readJsonFile, writeJsonFile } from "../connection/private-json.ts";
import type { Context } from "../context.ts";
import { EXIT, endOf, usageError } from "../exit.ts";

/** Polling interval. Polling works on all file systems, even on network file systems that report no changes. */
const LOOK_MS = 2000;

/** Handled files: name to version. A file with a different size or time counts as new. */
const WatchState = z.record(z.string(), z.string());
export type WatchState = z.infer<typeof WatchState>;

export type SeenFile = { readonly name: string; readonly version: string };

/**
 * Returns files that are not handled yet and have not changed since the last poll, so that no program is writing them.
 * Skips hidden files: programs write these before they rename them.
 */
export function readyFiles(now: readonly SeenFile[], before: readonly SeenFile[], handled: WatchState): SeenFile[] {
  const last = new Map(before.map(({ name, version }) => [name, version]));
  return now.filter(
    ({ name, version }) =>
      !/^\.|\.(part|tmp|crdownload)$/.test(name) && last.get(name) === version && handled[name] !== version,
  );
}

/** Runs until Ctrl-C. Reports a file that fails, and continues with the next file. */
export async function watchFolder(
  { output, env, signal }: Pick<Context, "output" | "env" | "signal">,
  given: string,
  encode: (path: string, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const folder = resolve(given);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw usageError(`${folder} is not a folder`);
  const hash = createHash("sha256").update(folder).digest("hex").slice(0, 32);
  const file = join(folderOf("state", env), "watch", `${hash}.json`);
  output.words(`Watching ${folder}; Ctrl-C ends it`);
  for (let before: SeenFile[] = []; ; ) {
    const now = look(folder);
    for (const { name, version } of readyFiles(now, before, readJsonFile(file, WatchState) ?? {})) {
      output.words(`\n${name}`);
      const exitCode = await encode(join(folder, name), signal).catch((error: unknown) => {
        signal.throwIfAborted();
        const { message, exitCode } = endOf(error);
        // The service would refuse the other files, too.
        if (exitCode === EXIT.notAllowed) throw error;
        output.warn(output.wordColors.red(`${name}: ${message}`));
        return exitCode;
      });
      // The service may be back later. An error in the file itself is permanent.
      if (exitCode !== EXIT.service) writeJsonFile(file, { ...readJsonFile(file, WatchState), [name]: version });
    }
    before = now;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

function look(folder: string): SeenFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ name }) => {
      const status = statSync(join(folder, name), { throwIfNoEntry: false });
      return status && status.size > 0 ? [{ name, version: `${status.size}-${Math.round(status.mtimeMs)}` }] : [];
    });
}
