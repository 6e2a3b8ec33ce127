// copra doctor: checks the tools of this machine and the connection to the service.

import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { promisify } from "node:util";
import type { Run } from "../command-spec.ts";
import { configPath } from "../connection/config-file.ts";
import type { Env } from "../connection/folders.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText } from "../terminal/values.ts";
import type { Check } from "./check.ts";
import { serviceChecks } from "./service-checks.ts";

export const doctor: Run = async (context) => {
  const { output } = context;
  const checks = [...(await machineChecks(context.env, context.signal)), ...(await serviceChecks(context))];
  const { green, yellow, red } = output.colors;
  const marks = { ok: green("ok"), missing: yellow("missing"), failed: red("failed") };
  output.data({ checks }, () =>
    table(
      checks.map(({ name, result, detail, advice }) => [
        marks[result],
        name,
        printable(advice === undefined ? detail : `${detail}. ${advice}`),
      ]),
    ),
  );
  return checks.some(({ result }) => result === "failed") ? EXIT.failed : EXIT.done;
};

/** Time limit of a check. */
const LIMIT_MS = 15_000;
/** The first Node.js version that runs TypeScript without a flag (local/bootstrap.mjs). */
const NODE_FOR_REPOSITORY = [22, 18] as const;
const OLDEST_FFMPEG = 5;
const LOW_DISK_BYTES = 10e9;

async function machineChecks(env: Env, signal: AbortSignal): Promise<Check[]> {
  const run = async (program: string, ...args: string[]): Promise<string | null> => {
    try {
      return (await promisify(execFile)(program, args, { timeout: LIMIT_MS, signal })).stdout;
    } catch {
      signal.throwIfAborted();
      return null;
    }
  };
  const [ffmpeg, ffprobe, gpu, unshare] = await Promise.all([
    run(env.FFMPEG_PATH || "ffmpeg", "-version"),
    run(env.FFPROBE_PATH || "ffprobe", "-version"),
    run("nvidia-smi", "--query-gpu=name", "--format=csv,noheader"),
    process.platform === "linux" ? run("unshare", "--user", "--net", "true") : null,
  ]);
  return [
    nodeCheck(process.versions.node),
    toolCheck("ffmpeg", ffmpeg, hasBundledTools()),
    toolCheck("ffprobe", ffprobe, hasBundledTools()),
    ok("GPU", gpu ? gpu.trim().split("\n").join(", ") : "no NVIDIA GPU; nodes encode on the CPU"),
    sandboxCheck(unshare !== null),
    await diskCheck(),
    ...configCheck(configPath(env)),
  ];
}

const ok = (name: string, detail: string): Check => ({ name, result: "ok", detail });
const missing = (name: string, detail: string, advice: string): Check => ({ name, result: "missing", detail, advice });

function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [least, leastMinor] = NODE_FOR_REPOSITORY;
  const isRecent = major > least || (major === least && minor >= leastMinor);
  return isRecent
    ? ok("Node", version)
    : missing(
        "Node",
        version,
        `Enough for this command line; nodes and the local system need ${least}.${leastMinor}, which npm brings on Linux`,
      );
}

/** True if npm installs ffmpeg and ffprobe together with Copra. */
const hasBundledTools = (): boolean => process.platform === "linux" && process.arch === "x64";

/** `version`: the tool's output; null if the tool is not in PATH. */
function toolCheck(name: string, version: string | null, isBundled: boolean): Check {
  if (version === null) {
    if (isBundled) return ok(name, "nodes on this machine use npm's");
    return missing(name, "not found in PATH", `Nodes need it: install ${name} ${OLDEST_FFMPEG} or newer`);
  }
  const [, text = "unknown", major] = /^\S+ version n?((\d+)?\S*)/.exec(version) ?? [];
  if (major !== undefined && Number(major) < OLDEST_FFMPEG) {
    return { name, result: "failed", detail: text, advice: `Install ${OLDEST_FFMPEG} or newer` };
  }
  return ok(name, text);
}

function sandboxCheck(works: boolean): Check {
  if (works) return ok("sandbox", "ffmpeg can run without a network");
  return process.platform === "linux"
    ? missing(
        "sandbox",
        "unshare --user --net does not work",
        "ffmpeg runs with the network of its node: see docs/nodes.md",
      )
    : missing("sandbox", "only on Linux", "ffmpeg runs with the network of its node");
}

async function diskCheck(): Promise<Check> {
  const { bavail, bsize } = await statfs(".");
  const free = bavail * bsize;
  return free < LOW_DISK_BYTES
    ? missing("disk", `${bytesText(free)} free here`, "Nodes keep sources and results on their disk while they work")
    : ok("disk", `${bytesText(free)} free here`);
}

function configCheck(path: string): Check[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || process.platform === "win32" || (stats.mode & 0o077) === 0) return [];
  return [{ name: "profiles", result: "failed", detail: `Others may read ${path}`, advice: `chmod 600 ${path}` }];
}
