// Prints commands for a POSIX shell. Pure.

/** Characters without a meaning in any shell. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Quotes an argument as a shell word. */
export const shellQuote = (argument: string): string =>
  PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;

/** Returns the command line that runs ffmpeg with these arguments. */
export const shellCommand = (argv: readonly string[]): string => ["ffmpeg", ...argv.map(shellQuote)].join(" ");
