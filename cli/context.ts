// What a command gets: where to write, which service to call, when to stop.

import type { Env } from "./connection/folders.ts";
import type { Target, TargetOptions } from "./connection/target.ts";
import { TimedOut, usageError } from "./exit.ts";
import type { Output } from "./terminal/output.ts";
import { parseDuration } from "./terminal/values.ts";

/** The options of one run, by their names in camel case as commander gives them. */
export type Options = Readonly<Record<string, unknown>>;

export type Context = {
  readonly env: Env;
  readonly output: Output;
  /** Options of all commands. */
  readonly globals: Options;
  /** Aborted by Ctrl-C, with `Interrupted`. */
  readonly signal: AbortSignal;
  /** Standard input, and whether people type it. */
  readonly input: NodeJS.ReadStream;
  readonly now: () => number;
};

/** The options of a command that are texts; undefined when not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be given several times. */
export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** A whole number of an option. Throws a usage error that names it. */
export function numberOption(options: Options, name: string, flag: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw usageError(`${flag} must be a whole number from 1, not "${text}"`);
  return Number(text);
}

/** The seconds of an option such as `90s`. Throws a usage error that names it. */
export function durationOption(options: Options, name: string, flag: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === null) throw usageError(`${flag} must be a time such as 90s, 15m or 2h, not "${text}"`);
  return seconds;
}

export const targetOptions = ({ globals }: Pick<Context, "globals">): TargetOptions => ({
  url: textOption(globals, "url"),
  key: textOption(globals, "key"),
  adminToken: textOption(globals, "adminToken"),
  profile: textOption(globals, "profile"),
});

/** The service that the options, the environment, the profile or the local system name. */
export async function targetOf(context: Pick<Context, "globals" | "env">): Promise<Target> {
  const { findTarget } = await import("./connection/target.ts");
  return findTarget(targetOptions(context), context.env);
}

/** A signal that is also aborted after some seconds, with `TimedOut`. `release` lets the process end before that. */
export function withTimeout(
  signal: AbortSignal,
  seconds: number | undefined,
): { readonly signal: AbortSignal; release(): void } {
  if (seconds === undefined) return { signal, release: () => undefined };
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TimedOut(seconds)), seconds * 1000);
  return { signal: AbortSignal.any([signal, controller.signal]), release: () => clearTimeout(timer) };
}
