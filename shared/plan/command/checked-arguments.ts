// The last check of an argument vector before it is run.

/**
 * Allowed values of options that name streams, encoders, devices and tags. `-c:v` and similar options are checked as
 * `-c`.
 */
const ALLOWED_VALUES: Readonly<Record<string, RegExp>> = {
  "-map": /^(?:\d{1,5}:(?:[va]:)?\d{1,5}|\[\w{1,60}\])$/,
  "-c": /^[\w-]{1,40}$/,
  "-f": /^[\w]{1,40}$/,
  "-ss": /^-?\d+(?:\.\d+)?$/,
  "-t": /^-?\d+(?:\.\d+)?$/,
  "-itsoffset": /^-?\d+(?:\.\d+)?$/,
  // Plans remove tags and never write them.
  "-metadata": /^\w+=$/,
  "-init_hw_device": /^(?:vaapi|qsv)=hw(?:(?::|,child_device=)\/[\w./-]+)?$/,
};

/**
 * Returns the arguments unchanged. Throws for an argument that no plan writes, because a part of it came from outside.
 */
export function checkedArguments(argv: readonly string[]): readonly string[] {
  for (const [at, argument] of argv.entries()) {
    const option = argv[at - 1] ?? "";
    const allowed = ALLOWED_VALUES[option.startsWith("-c:") ? "-c" : option];
    if (/\p{Cc}/u.test(argument) || (allowed && !allowed.test(argument))) {
      throw new Error(`No argument of a plan: ${option} ${argument}`);
    }
  }
  return argv;
}
