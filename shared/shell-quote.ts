// Commands as text for a POSIX shell. Pure.

/** Characters that no shell gives a meaning to. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** An argument as a word of a shell. */
export const shellQuote = (argument: string): string =>
  PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

/** The command line that runs ffmpeg with these arguments. */
export const shellCommand = (argv: readonly string[]): string => ["ffmpeg", ...argv.map(shellQuote)].join(" ");
