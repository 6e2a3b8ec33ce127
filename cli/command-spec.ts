// What a command is called, what it takes and what runs it. Help, completion and docs/cli.md follow from these.
import type { Context, Options } from "./context.ts";

/** Runs a command. Returns its exit code; throws what `endOf` maps to one. */
export type Run = (context: Context, args: readonly string[], options: Options) => Promise<number>;

export type OptionSpec = {
  /** As commander has them: `-o, --output <folder>`. */
  readonly flags: string;
  readonly description: string;
  /** The option may be given several times; its value is a list. */
  readonly repeat?: true;
  readonly choices?: readonly string[];
  /** What completion offers as the value. */
  readonly complete?: "file" | "folder";
};

export type ArgumentSpec = {
  /** As commander has them: `<id>`, `[url]`, `<ids...>`. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly complete?: "file" | "folder";
};

export type CommandSpec = {
  /** One or two words: `encode`, `jobs ls`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** Lines below the help's options. */
  readonly examples?: readonly string[];
  /** The command handles Ctrl-C by itself: its `context.signal` is never aborted. */
  readonly handlesSignals?: true;
  /** Imports what the command needs, so that `--help` loads none of it. */
  readonly load: () => Promise<Run>;
};

/** A group of commands with a common first word, and what it is about. */
export type CommandGroup = { readonly name: string; readonly summary: string };
