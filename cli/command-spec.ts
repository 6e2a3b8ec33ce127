// Specification of a command: name, arguments, options and code. Help, completion and docs/cli.md are generated from
// it.
import type { Context, Options } from "./context.ts";

/** Runs a command. Returns its exit code; by default 0. `endOf` maps thrown errors to an exit code. */
export type Run = (context: Context, args: readonly string[], options: Options) => Promise<number | undefined>;

export type OptionSpec = {
  /** In commander's syntax: `-o, --output <folder>`. */
  readonly flags: string;
  readonly description: string;
  /** The option may be given several times; its value is a list. */
  readonly repeat?: true;
  readonly choices?: readonly string[];
  /** Values that completion offers. */
  readonly complete?: "file" | "folder";
};

export type ArgumentSpec = {
  /** In commander's syntax: `<id>`, `[url]`, `<ids...>`. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly complete?: "file" | "folder";
};

export type CommandSpec = {
  /** A word or two: `encode`, `jobs ls`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Lines below the options in the help. */
  readonly examples?: readonly string[];
  /** The command handles Ctrl-C by itself: its `context.signal` is never aborted. */
  readonly handlesSignals?: true;
  /** Imports the command's code on demand, so that `--help` loads none of it. */
  readonly load: () => Promise<Run>;
};

/** A group of commands with a common first word, and its description in the help. */
export type CommandGroup = { readonly name: string; readonly summary: string };
