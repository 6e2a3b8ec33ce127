// Finds the first syntax error of a text that JSON.parse rejects, and its position (RFC 8259).

export type JsonError = { readonly message: string; readonly line: number; readonly column: number };

/** Returns the first syntax error of a text; null if the text is JSON. */
export function jsonError(text: string): JsonError | null {
  const reader = new Reader(text);
  const message = reader.document();
  return message === null ? null : { message, ...placeOf(text, reader.at) };
}

function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;
const WORD = /[\p{L}\p{N}_$.+-]{1,20}/uy;

/** Reads a text from its start. Every step returns an error, or null. */
class Reader {
  readonly #text: string;
  at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): string | null {
    return this.#value() ?? (this.#skip() === undefined ? null : `${this.#found()} after the end of the JSON`);
  }

  /** Reads a value with everything in it. Not recursive, because text may be nested deeper than the call stack. */
  #value(): string | null {
    const closers: string[] = [];
    for (;;) {
      const started = this.#beginning(closers);
      if (started === "open") continue;
      if (started !== "done") return started;
      const ended = this.#ending(closers);
      if (ended !== "more") return ended === "done" ? null : ended;
    }
  }

  /** Reads a scalar, or the bracket that opens a list or an object, with the name of the first property. */
  #beginning(closers: string[]): string {
    const first = this.#skip();
    if (first === "{" || first === "[") {
      this.at += 1;
      const closer = first === "{" ? "}" : "]";
      if (this.#skip() === closer) return this.#closed();
      closers.push(closer);
      return closer === "}" ? (this.#name() ?? "open") : "open";
    }
    if (this.#take(STRING) || this.#take(SCALAR)) return "done";
    return first === '"' ? this.#badString() : `${this.#found()} where a value is expected`;
  }

  #closed(): "done" {
    this.at += 1;
    return "done";
  }

  /** Reads the text after a value: closing brackets, then a comma and the next property name, or the end. */
  #ending(closers: string[]): string {
    for (;;) {
      const closer = closers.at(-1);
      if (closer === undefined) return "done";
      const next = this.#skip();
      if (next === closer) {
        this.at += 1;
        closers.pop();
      } else if (next === ",") {
        return this.#comma(closer);
      } else return `${this.#found()} where \`,\` or \`${closer}\` is expected`;
    }
  }

  #comma(closer: string): string {
    this.at += 1;
    if (this.#skip() === closer) return `unexpected \`${closer}\` after a comma`;
    return closer === "}" ? (this.#name() ?? "more") : "more";
  }

  #name(): string | null {
    const first = this.#skip();
    if (!this.#take(STRING)) {
      return first === '"' ? this.#badString() : `${this.#found()} where a property name in double quotes is expected`;
    }
    if (this.#skip() !== ":") return `${this.#found()} where \`:\` is expected`;
    this.at += 1;
    return null;
  }

  /** Returns the error of a string that is not closed or contains invalid characters. */
  #badString(): string {
    const rest = this.#text.slice(this.at + 1).replaceAll(/\\["\\/bfnrt]/g, "xx");
    const bad = /"|(?![\u007f-\u009f])\p{Cc}|\\(?!u[0-9a-fA-F]{4})/u.exec(rest);
    if (!bad) return "a string is not closed";
    this.at += 1 + bad.index;
    return bad[0] === "\\"
      ? "a string contains an invalid escape"
      : "a string contains a line break or control character";
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  /** Returns the next character that is not whitespace; undefined at the end. */
  #skip(): string | undefined {
    this.#take(SPACE);
    return this.#text[this.at];
  }

  #found(): string {
    if (this.at >= this.#text.length) return "the body ends";
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.#text)?.[0] ?? String.fromCodePoint(this.#text.codePointAt(this.at) ?? 0);
    return `unexpected \`${word.toWellFormed()}\``;
  }
}
