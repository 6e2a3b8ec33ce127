// The context of a command: outputs, target service and abort signal.
import type { Env } from "./connection/folders.ts";
import type { Target, TargetOptions } from "./connection/target.ts";
import { TimedOut, usageError } from "./exit.ts";
import type { Output } from "./terminal/output.ts";
import type { Input } from "./terminal/prompt.ts";
import { parseDuration } from "./terminal/values.ts";

/** The options of a run by name, in camel case as commander returns them. */
export type Options = Readonly<Record<string, unknown>>;

export type Context = {
  readonly env: Env;
  readonly output: Output;
  /** Options of all commands. */
  readonly globals: Options;
  /** Aborted by Ctrl-C with the reason `Interrupted`. */
  readonly signal: AbortSignal;
  /** Standard input. */
  readonly input: Input;
  readonly now: () => number;
};

/** Returns the text of an option, or undefined if it is not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** Returns the values of an option that may be given several times. */
export function listOption(options: Options, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Returns the pairs of an option `name=value`, or undefined without any. Throws a usage error with its name. */
export function pairsOption(options: Options, option: string): Record<string, string> | undefined {
  const pairs = listOption(options, option).map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) throw usageError(`--${option} must be name=value, not "${pair}"`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs);
}

/** Returns an option as a whole number. Throws a usage error that names the option. */
export function numberOption(options: Options, name: string, flag: string): number | undefined {
  const text = textOption(options, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1)
    throw usageError(`${flag} must be a whole number from 1, not "${text}"`);
  return Number(text);
}

/** Returns an option such as `90s` in seconds. Throws a usage error that names the option. */
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

/** Finds the service in the options, the environment, the profile or the local system. */
export async function targetOf(context: Pick<Context, "globals" | "env">): Promise<Target> {
  const { findTarget } = await import("./connection/target.ts");
  return findTarget(targetOptions(context), context.env);
}

/**
 * Returns a signal that is also aborted after some seconds, with the reason `TimedOut`. `release` stops the timer, so
 * that the process can end earlier.
 */
export function withTimeout(
  signal: AbortSignal,
  seconds: number | undefined,
): { readonly signal: AbortSignal; release(): void } {
  if (seconds === undefined) return { signal, release: () => undefined };
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new TimedOut(seconds)), seconds * 1000);
  return { signal: AbortSignal.any([signal, controller.signal]), release: () => clearTimeout(timer) };
}
