// Finds comments that end after column 120, which biome does not break.

const MOST_COLUMNS = 120;

/** The start of a comment's line: its indentation, then `//`, `/**` or ` *`. */
const PREFIX = /^(\s*)(\/\/|\/\*\*|\*)(?= |$)/;

const isTooLong = (line: string): boolean => line.length > MOST_COLUMNS && PREFIX.test(line) && !line.includes("://");

/** The lines of comments that are longer than 120 columns, as `file:line: columns`. Lines with a URL may be longer. */
export const longComments = (file: string, text: string): string[] =>
  text.split("\n").flatMap((line, at) => (isTooLong(line) ? [`${file}:${at + 1}: ${line.length} columns`] : []));
