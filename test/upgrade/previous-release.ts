// The sources of the previous release, out of the repository's history, and its control plane as a process.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { ROOT } from "../../local/home/constants.ts";
import { readStackFile, type StackFile } from "../../local/home/stack-file.ts";
import { PARENT_VARIABLE } from "../../local/processes/parent.ts";

/** The last commit of 0.1.0, which had no tag. */
const PREVIOUS_RELEASE = "c87e7dc";
const START_LIMIT_MS = 90_000;
const LOOK_EVERY_MS = 200;

const git = (...argv: string[]): Buffer =>
  execFileSync("git", ["-C", ROOT, ...argv], { maxBuffer: 256 * 2 ** 20, stdio: ["ignore", "pipe", "ignore"] });

/** Why its sources cannot be had here; null: they can. */
export function reasonAgainst(): string | null {
  try {
    git("cat-file", "-e", `${PREVIOUS_RELEASE}^{commit}`);
  } catch {
    return `the history lacks ${PREVIOUS_RELEASE}: git fetch --unshallow`;
  }
  const changed = Object.entries(pinnedAt(PREVIOUS_RELEASE)).filter(([name, version]) => {
    const installed = pinnedAt("HEAD")[name];
    return installed !== undefined && installed !== version;
  });
  return changed.length === 0 ? null : `these packages have changed since: ${changed.map(([name]) => name).join(", ")}`;
}

/** What control plane and nodes run with. */
const RUNTIME = ["@20minutes/s3rver", "esbuild", "fluent-ffmpeg", "miniflare", "undici", "wrangler", "ws", "zod"];
const Versions = z.record(z.string(), z.string()).default({});
const Manifest = z.object({ dependencies: Versions, devDependencies: Versions });

function pinnedAt(commit: string): Record<string, string> {
  const manifest = Manifest.parse(JSON.parse(git("show", `${commit}:package.json`).toString()));
  const all = { ...manifest.devDependencies, ...manifest.dependencies };
  return Object.fromEntries(Object.entries(all).filter(([name]) => RUNTIME.includes(name)));
}

/** Unpacks the sources into a folder, with the packages that are installed here: it pinned the same ones. */
export function unpackPrevious(folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-x", "-C", folder], { input: git("archive", PREVIOUS_RELEASE) });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return folder;
}

export type PreviousStack = { readonly stack: StackFile; stop(): Promise<void> };

/** Starts its control plane and S3 server, without nodes, as its `npm start` does. */
export async function startPrevious(sources: string, home: string): Promise<PreviousStack> {
  const settings = { COPRA_HOME: home, COPRA_PORT: "0", COPRA_S3_PORT: "0", COPRA_NODES: "0" };
  const child = spawn(process.execPath, [join(sources, "local", "start.ts")], {
    cwd: sources,
    env: { ...process.env, ...settings, [PARENT_VARIABLE]: String(process.pid) },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    const stack = output.includes("Copra runs on this machine") ? readStackFile(home) : null;
    const stop = async (): Promise<void> => {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    };
    if (stack) return { stack, stop };
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`The previous release did not start: ${output}`);
    await sleep(LOOK_EVERY_MS);
  }
}
