// Finds comments that end after column 120, which biome does not break, and wraps them.

const MOST_COLUMNS = 120;

/** The start of a comment's line: its indentation, then `//`, `/**` or ` *`. */
const PREFIX = /^(\s*)(\/\/|\/\*\*|\*)(?= |$)/;

const isTooLong = (line: string): boolean => line.length > MOST_COLUMNS && PREFIX.test(line) && !line.includes("://");

/** The lines of comments that are longer than 120 columns, as `file:line: columns`. Lines with a URL may be longer. */
export const longComments = (file: string, text: string): string[] =>
  text.split("\n").flatMap((line, at) => (isTooLong(line) ? [`${file}:${at + 1}: ${line.length} columns`] : []));

/** The text with its long comments wrapped. Words that do not fit move to the next line of their paragraph. */
export function wrapComments(text: string): string {
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (!isTooLong(line)) continue;
    const oneLine = /^(\s*)\/\*\*? (.*?) ?\*\/$/.exec(line);
    if (oneLine) {
      const [, indent = "", words = ""] = oneLine;
      lines.splice(at, 1, `${indent}/**`, `${indent} * ${words}`, `${indent} */`);
      continue;
    }
    const end = line.lastIndexOf(" ", MOST_COLUMNS);
    const prefix = (/^\s*(?:\/\/|\/?\*\*?)/.exec(line)?.[0] ?? "").replace("/**", " *");
    if (end <= prefix.length) continue;
    const rest = line.slice(end + 1);
    lines[at] = line.slice(0, end);
    const next = lines[at + 1] ?? "";
    if (continues(next, prefix)) lines[at + 1] = `${prefix} ${rest} ${next.slice(prefix.length + 1)}`;
    else lines.splice(at + 1, 0, `${prefix} ${rest}`);
  }
  return lines.join("\n");
}

/** True if a line continues the paragraph of a comment, and does not start a list, an example or a table. */
const continues = (line: string, prefix: string): boolean =>
  line.startsWith(`${prefix} `) &&
  /^[\w`"'(§×→…]/.test(line.slice(prefix.length + 1)) &&
  !/^\d+\. /.test(line.slice(prefix.length + 1));
