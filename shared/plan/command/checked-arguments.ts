// The last look at an argument vector: options that name streams, encoders, devices and tags hold what plans write, and no more.

/** By option; of `-c:v` and the like by the part before the colon. */
const FORMS: Readonly<Record<string, RegExp>> = {
  "-map": /^(?:\d{1,5}:(?:[va]:)?\d{1,5}|\[\w{1,60}\])$/,
  "-c": /^[\w-]{1,40}$/,
  "-f": /^[\w]{1,40}$/,
  "-ss": /^-?\d+(?:\.\d+)?$/,
  "-t": /^-?\d+(?:\.\d+)?$/,
  "-itsoffset": /^-?\d+(?:\.\d+)?$/,
  // Nothing is written into tags, they are only taken away.
  "-metadata": /^\w+=$/,
  "-init_hw_device": /^(?:vaapi|qsv)=hw(?:(?::|,child_device=)\/[\w./-]+)?$/,
};

/** The arguments as they are. Throws for one that no plan writes: a part of it then came from outside. */
export function checkedArguments(argv: readonly string[]): readonly string[] {
  for (const [at, argument] of argv.entries()) {
    const option = argv[at - 1] ?? "";
    const form = FORMS[option.startsWith("-c:") ? "-c" : option];
    if (/\p{Cc}/u.test(argument) || (form && !form.test(argument))) {
      throw new Error(`No argument of a plan: ${option} ${argument}`);
    }
  }
  return argv;
}
