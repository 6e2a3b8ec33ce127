// Output of a command: data to standard output, messages to standard error.
import { type Colors, colors, wantsColor } from "./colors.ts";
import { printableColored, printableJson } from "./printable.ts";

/** The part of a stream that Output uses, so that tests can pass their own. */
export type TextStream = { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };

export type OutputOptions = {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
};

export class Output {
  /** True to print data as JSON instead of text for people. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly stderr: TextStream;
  /** Colors for standard output. */
  readonly colors: Colors;
  /** Colors for standard error. */
  readonly wordColors: Colors;
  readonly #stdout: TextStream;

  constructor({ stdout, stderr, env, json, quiet, noColor }: OutputOptions) {
    this.json = json;
    this.quiet = quiet;
    this.stderr = stderr;
    this.#stdout = stdout;
    this.colors = colors(wantsColor(stdout, env, noColor));
    this.wordColors = colors(wantsColor(stderr, env, noColor));
  }

  /** Prints the result of the command: a JSON document, or text for people. */
  data(document: unknown, text: () => string): void {
    this.#stdout.write(`${this.json ? printableJson(document, 2) : printableColored(text())}\n`);
  }

  /** Prints a single result of many: a line of JSON, or text for people. */
  line(document: unknown, text: () => string): void {
    this.#stdout.write(`${this.json ? printableJson(document) : printableColored(text())}\n`);
  }

  /** Prints text that is the result itself, even with `--json`: a completion script. */
  raw(text: string): void {
    this.#stdout.write(text);
  }

  /** Prints a progress message. `--quiet` hides it. */
  words(text: string): void {
    if (!this.quiet) this.warn(text);
  }

  /** Prints a message even with `--quiet`. */
  warn(text: string): void {
    this.stderr.write(`${printableColored(text)}\n`);
  }
}
