// Where a command writes: data to standard output, words to standard error.
import { type Colors, colors, wantsColor } from "./colors.ts";
import { printableColored, printableJson } from "./printable.ts";

/** What of a stream is used; tests give their own. */
export type TextStream = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
};

export type OutputOptions = {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
};

export class Output {
  /** Data is JSON instead of text for people. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly stderr: TextStream;
  /** Colors of what goes to standard output. */
  readonly colors: Colors;
  /** Colors of what goes to standard error. */
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

  /** The result of the command: one JSON document, or the text for people. */
  data(document: unknown, text: () => string): void {
    this.#stdout.write(`${this.json ? printableJson(document, 2) : printableColored(text())}\n`);
  }

  /** One of many results: a line of JSON, or the text for people. */
  line(document: unknown, text: () => string): void {
    this.#stdout.write(`${this.json ? printableJson(document) : printableColored(text())}\n`);
  }

  /** Text that is the result itself, also with `--json`: a completion script. */
  raw(text: string): void {
    this.#stdout.write(text);
  }

  /** A message about what happens. `--quiet` hides it. */
  words(text: string): void {
    if (!this.quiet) this.warn(text);
  }

  /** A message that must be read. */
  warn(text: string): void {
    this.stderr.write(`${printableColored(text)}\n`);
  }
}
