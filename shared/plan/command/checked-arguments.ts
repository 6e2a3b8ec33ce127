// The last check of an argument vector before it is run.

/**
 * Allowed values of options that name streams, encoders, devices and tags. Options of single streams, such as
 * `-c:v`, are checked as options of all streams.
 */
const ALLOWED_VALUES: Readonly<Record<string, RegExp>> = {
  "-map": /^(?:\d{1,5}:(?:[va]:)?\d{1,5}|\d{1,5}:s|\[\w{1,60}\])$/,
  "-c": /^[\w-]{1,40}$/,
  "-f": /^[\w]{1,40}$/,
  "-ss": /^-?\d+(?:\.\d+)?$/,
  "-t": /^-?\d+(?:\.\d+)?$/,
  "-itsoffset": /^-?\d+(?:\.\d+)?$/,
  // Plans remove tags. They write tags only by files in the format ffmetadata.
  "-metadata": /^\w+=$/,
  "-map_metadata": /^(?:-1|\d{1,5}(?::s:(?:[va]:)?\d{1,5})?)$/,
  "-map_chapters": /^(?:-1|\d{1,5})$/,
  "-disposition": /^(?:0|[a-z_]+(?:\+[a-z_]+)*)$/,
  "-init_hw_device": /^(?:vaapi|qsv)=hw(?:(?::|,child_device=)\/[\w./-]+)?$/,
};

/**
 * Returns the arguments unchanged. Throws for an argument that no plan writes, because a part of it came from outside.
 */
export function checkedArguments(argv: readonly string[]): readonly string[] {
  for (const [at, argument] of argv.entries()) {
    const option = argv[at - 1] ?? "";
    const allowed = ALLOWED_VALUES[option.replace(/^(-c|-map_metadata|-disposition):.*$/, "$1")];
    if (/\p{Cc}/u.test(argument) || (allowed && !allowed.test(argument))) {
      throw new Error(`No argument of a plan: ${option} ${argument}`);
    }
  }
  return argv;
}
