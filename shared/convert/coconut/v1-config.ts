// The configuration language of Coconut's API v1: `var`, `set` and `->` lines.

export type V1Output = {
  readonly format: string;
  readonly url: string;
  readonly params: ReadonlyMap<string, string>;
};

export type V1Config = {
  readonly settings: ReadonlyMap<string, { readonly value: string; readonly params: ReadonlyMap<string, string> }>;
  readonly outputs: readonly V1Output[];
  /** Lines that are none of the three. */
  readonly unknown: readonly string[];
};

/** A comment begins with `#` after a space or at the start of a line; `#num#` in a URL is none. */
const withoutComment = (line: string): string => line.replace(/(^|\s)#(?!num#).*/i, "$1").trimEnd();

/** Lines that begin with a space or a comma, or follow a comma or backslash, go on. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  for (const raw of text.split(/\r?\n/)) {
    const line = withoutComment(raw);
    const last = lines.at(-1);
    const goesOn =
      last !== undefined && last !== "" && (/^\s*,|^\s+(?!->|set\b|var\b)\S/.test(line) || /[,\\]$/.test(last));
    if (goesOn && line.trim() !== "") lines[lines.length - 1] = `${last.replace(/\\$/, "")} ${line.trim()}`;
    else lines.push(line.trim());
  }
  return lines.filter((line) => line !== "");
}

export function parseV1(text: string, given: Readonly<Record<string, unknown>> = {}): V1Config {
  const variables = new Map(Object.entries(given).map(([name, value]) => [name, String(value)]));
  const settings = new Map<string, { value: string; params: ReadonlyMap<string, string> }>();
  const outputs: V1Output[] = [];
  const unknown: string[] = [];
  for (const line of logicalLines(text)) {
    const [, keyword, name = "", value = ""] =
      /^(var|set|->)\s*([^=\s]+(?:=[^=\s]+)*?)\s*=\s(.*)$/.exec(spaced(line)) ?? [];
    if (keyword === "var") variables.set(name, expanded(value.trim(), variables));
    else if (keyword === "set") settings.set(name, split(expanded(value, variables)));
    else if (keyword === "->") {
      const { value: url, params } = split(expanded(value, variables));
      outputs.push({ format: name, url, params });
    } else unknown.push(line);
  }
  return { settings, outputs, unknown };
}

/** Formats may contain `=` (`mp4:720p::quality=4`), but not ` = `; some configurations have no spaces at all. */
const spaced = (line: string): string =>
  /\s=\s/.test(line) ? line : line.replace(/^(\s*(?:var|set|->)\s*[^=\s]+)=/, "$1 = ");

/** Variables of the source have their own names in conditions. */
function expanded(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\w+)/g, (whole, name: string) => {
    if (name.startsWith("source_")) return whole;
    return variables.get(name) ?? longest(name, variables) ?? whole;
  });
}

/** `$vid_720p` may be the variable `vid`, followed by text. */
function longest(name: string, variables: ReadonlyMap<string, string>): string | undefined {
  const known = [...variables.keys()].filter((one) => name.startsWith(one)).toSorted((a, b) => b.length - a.length)[0];
  return known === undefined ? undefined : `${variables.get(known)}${name.slice(known.length)}`;
}

/** `url, name=value, name=value`; a value may contain commas (`offsets=1,10`). */
export function split(text: string): { value: string; params: ReadonlyMap<string, string> } {
  const [value = "", ...rest] = text.split(",").map((part) => part.trim());
  const params = new Map<string, string>();
  let last: string | null = null;
  for (const part of rest) {
    const [, name, given = ""] = /^([\w+]+)\s*=\s*(.*)$/s.exec(part) ?? [];
    if (name !== undefined) {
      last = name;
      params.set(name, given);
    } else if (last !== null) params.set(last, `${params.get(last)},${part}`);
  }
  return { value, params };
}
