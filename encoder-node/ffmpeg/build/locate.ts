// Finds the ffmpeg and the ffprobe to work with: the operator's own, the system's, or the ones that npm brought.
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";
import { knownHoles, SAFE_RELEASES } from "./known-vulnerabilities.ts";
import { makeRunnable } from "./make-executable.ts";

export type ToolName = "ffmpeg" | "ffprobe";
export type ToolOrigin = "env" | "system" | "package";
export type Tool = { readonly path: string; readonly version: string; readonly origin: ToolOrigin };
/** A place where a tool may lie; it need not exist. */
export type Candidate = { readonly path: string; readonly origin: ToolOrigin };
export type Candidates = Readonly<Record<ToolName, readonly Candidate[]>>;
export type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES: Record<ToolName, string> = { ffmpeg: "FFMPEG_PATH", ffprobe: "FFPROBE_PATH" };

/** npm packages that hold a binary. The names end in `process.platform-process.arch`; docs/decisions/0011 says why these. */
const PACKAGES: Record<ToolName, readonly string[]> = {
  ffmpeg: ["@ffmpeg-binary/"],
  ffprobe: ["@ffprobe-installer/"],
};

/** Oldest release line whose options the planner relies on. */
const OLDEST_SYSTEM_MAJOR = 5;

/** A cold 120 MB binary on a slow disk takes seconds to print its version. */
const START_TIMEOUT_MS = 20_000;

/**
 * The ffmpeg and the ffprobe to use: for each the first candidate that really runs. An ffprobe in the folder of the chosen
 * ffmpeg comes before all but the operator's choice, because two versions may list the streams of a file in different order.
 * A path from the environment is the operator's word: when it does not work that is an error, never a silent fall-through.
 * Logs what is used, why, and what was passed over, and warns of versions that differ or are known to be open to attacks.
 * Throws AppError `encoder_not_available`, whose message says what to install or set.
 */
export async function locateFfmpeg(
  env: Env,
  log?: Logger,
  candidates: Candidates = findCandidates(env),
): Promise<{ ffmpeg: Tool; ffprobe: Tool }> {
  const ffmpeg = await locate("ffmpeg", candidates.ffmpeg, env, log);
  const ffprobe = await locate("ffprobe", besideFirst(candidates.ffprobe, ffmpeg), env, log);
  if (log) warnOfVersions(ffmpeg, ffprobe, log);
  return { ffmpeg, ffprobe };
}

function besideFirst(candidates: readonly Candidate[], { path }: Tool): readonly Candidate[] {
  if (candidates[0]?.origin === "env") return candidates;
  const folder = dirname(path);
  const known = candidates.find((candidate) => dirname(candidate.path) === folder);
  const beside = known ?? { path: join(folder, "ffprobe"), origin: "system" as const };
  return [beside, ...candidates.filter((candidate) => candidate !== beside)];
}

/** What to do about it stands in docs/nodes.md. */
function warnOfVersions(ffmpeg: Tool, ffprobe: Tool, log: Logger): void {
  if (releaseOf(ffmpeg.version) !== releaseOf(ffprobe.version)) {
    log.warn("ffmpeg and ffprobe are of different versions", {
      ...{ ffmpeg: ffmpeg.version, ffprobe: ffprobe.version },
      advice:
        "files whose streams they list differently fail; set FFMPEG_PATH and FFPROBE_PATH to programs of one build",
    });
  }
  for (const [tool, { path, version }] of Object.entries({ ffmpeg, ffprobe })) {
    const { open, unknown } = knownHoles(version);
    const advice = `install ffmpeg ${SAFE_RELEASES}, and set FFMPEG_PATH and FFPROBE_PATH to it`;
    if (open.length > 0) {
      log.warn("This version has published vulnerabilities", { tool, path, version, open: open.join(", "), advice });
    }
    if (unknown.length > 0) {
      const ask = `see your distribution's security tracker; else ${advice}`;
      const fields = { tool, path, version, mayBeOpen: unknown.join(", "), advice: ask };
      log.info("This version may have published vulnerabilities", fields);
    }
  }
}

/** Such as `8.1`; the whole text for builds without a release number. */
const releaseOf = (version: string): string => /^n?(\d+\.\d+)/.exec(version)?.[1] ?? version;

/** All places to look at, in order of preference: environment, PATH, npm packages. */
export function findCandidates(env: Env): Candidates {
  return { ffmpeg: placesOf("ffmpeg", env), ffprobe: placesOf("ffprobe", env) };
}

function placesOf(name: ToolName, env: Env): Candidate[] {
  const chosen = env[VARIABLES[name]];
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return [
    ...(chosen ? [{ path: chosen, origin: "env" as const }] : []),
    ...folders.map((folder) => ({ path: join(folder, name), origin: "system" as const })),
    ...PACKAGES[name].flatMap((scope) => packaged(`${scope}${process.platform}-${process.arch}`, name)),
  ];
}

function packaged(packageName: string, name: ToolName): Candidate[] {
  try {
    // The packages' own entry points are of no use: one exports a URL of itself, others throw on odd platforms.
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    return [{ path: join(dirname(manifest), name), origin: "package" }];
  } catch {
    return []; // An optional dependency that is not there.
  }
}

async function locate(name: ToolName, candidates: readonly Candidate[], env: Env, log?: Logger): Promise<Tool> {
  const passedOver: string[] = [];
  for (const candidate of candidates) {
    const found = await inspect(name, candidate, env);
    if (found.ok) {
      const { path, version, origin } = found.tool;
      log?.info(`Using ${name}`, {
        path,
        version,
        why: WHY[origin](name),
        passedOver: passedOver.join("; ") || "none",
      });
      return found.tool;
    }
    if (candidate.origin === "env") {
      const advice = `Point ${VARIABLES[name]} to a working ${name}, or unset it`;
      throw new AppError("encoder_not_available", `${VARIABLES[name]} is set, but ${found.reason}. ${advice}.`);
    }
    if (!found.absent) passedOver.push(`${candidate.path}: ${found.reason}`);
  }
  const advice = `Install ffmpeg ${OLDEST_SYSTEM_MAJOR} or newer, run npm install with optional dependencies`;
  const over = passedOver.length > 0 ? ` Passed over: ${passedOver.join("; ")}.` : "";
  throw new AppError(
    "encoder_not_available",
    `No ${name} found. ${advice}, or set ${VARIABLES[name]} to its path.${over}`,
  );
}

const WHY: Record<ToolOrigin, (name: ToolName) => string> = {
  env: (name) => `${VARIABLES[name]} is set`,
  system: (name) =>
    `the system's, version ${OLDEST_SYSTEM_MAJOR} or newer${name === "ffmpeg" ? " with libx264" : ", beside ffmpeg or on the PATH"}`,
  package: () => "npm brought it, and the system has none that can be used",
};

type Found = { ok: true; tool: Tool } | { ok: false; absent: boolean; reason: string };
const refused = (reason: string): Found => ({ ok: false, absent: false, reason });

async function inspect(name: ToolName, { path: place, origin }: Candidate, env: Env): Promise<Found> {
  if (!(await exists(place))) return { ok: false, absent: true, reason: `there is no file ${place}` };
  try {
    // Only what npm brought is mended; other people's files keep the permissions they have.
    const path = origin === "package" ? await makeRunnable(place, env) : place;
    const version = readVersion(await output(path, ["-version"]));
    if (version === null) return refused(`${path} does not answer like ${name}`);
    if (origin === "system") {
      if (!isRecent(version)) return refused(`version ${version} is older than ${OLDEST_SYSTEM_MAJOR}`);
      if (name === "ffmpeg" && !(await hasX264(path))) return refused("it was built without libx264");
    }
    return { ok: true, tool: { path, version, origin } };
  } catch (error) {
    return refused(`${place} does not run (${messageOf(error).split("\n")[0]})`);
  }
}

/** The version in the first line that `-version` prints; null when the text is none of ffmpeg's. */
export function readVersion(text: string): string | null {
  return /^ff(?:mpeg|probe) version (\S+)/.exec(text)?.[1] ?? null;
}

/** Whether a system's build is new enough: releases by number (`5.1.9`, `n7.0-7-g…`), git builds (`N-…`) always. */
export function isRecent(version: string): boolean {
  const major = /^n?(\d+)\b(?!-\d)/.exec(version)?.[1];
  return version.startsWith("N-") || (major !== undefined && Number(major) >= OLDEST_SYSTEM_MAJOR);
}

const hasX264 = async (path: string): Promise<boolean> =>
  /^ V\S{5} libx264 /m.test(await output(path, ["-hide_banner", "-encoders"]));

async function output(path: string, argv: readonly string[]): Promise<string> {
  const limits = { timeout: START_TIMEOUT_MS, maxBuffer: 4 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(path, argv, { ...limits, env: toolEnvironment() });
  return stdout;
}

async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
