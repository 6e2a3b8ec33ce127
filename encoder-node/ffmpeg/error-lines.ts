// Finds the line in ffmpeg's stderr that explains a failure.

/**
 * A message of libswresample (`swr_next_pts`), which continues regardless. It holds a whole gap in memory before it
 * fills the gap with silence. A small file can therefore need more memory than the machine has.
 */
export const UNFILLED_AUDIO_GAP = /Failed to compensate for timestamp delta/;

/** Lines that report a failure without its reason. */
const UNINFORMATIVE = new RegExp(
  `^(?:${[
    "Codec \\(\\S+\\) not on whitelist",
    "Conversion failed!",
    "Exiting normally",
    "Last message repeated",
    "Nothing was written",
    "At least one output file",
    "Error (?:opening|parsing options for) (?:in|out)put file",
    "Error sending frames to consumers",
    "Error marking filters as finished",
    "Error binding filtergraph",
    "Error submitting packet to decoder",
    "Error while (?:decoding|filtering|opening encoder)",
    "Error initializing (?:output stream|filters|a simple filtergraph|complex filters)",
    "Error selecting an encoder",
    "Error splitting the argument list",
    "Could not open encoder before EOF",
    "Task finished with error",
    "Terminating thread",
    "To ignore this, add",
    "Failed to set value",
    "Error parsing global options",
    "Device creation failed",
    "ffmpeg: \\S+: load_library: Assertion",
  ].join("|")})`,
);

/** The most characters of an ffmpeg message that are passed on. */
const MAX_QUOTE = 300;

/**
 * The last line that explains the failure, without log prefixes, folder names and the final period. Null when stderr is
 * empty.
 */
export function lastErrorLine(stderrTail: string): string | null {
  const lines = stderrTail
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^(?:\[[^\]]*\]\s*)+/, "").trim())
    .filter((line) => line !== "");
  const line = lines.findLast((text) => !UNINFORMATIVE.test(text)) ?? lines.at(-1);
  return line === undefined
    ? null
    : withoutFolders(line)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, MAX_QUOTE)
        .replace(/(?<!\.)\.+$/, "");
}

/**
 * Keeps only the last component of each path. Folder names may contain spaces, so a path extends to the next quote,
 * colon or line end. Losing a word of the message is better than showing a user name.
 */
export function withoutFolders(line: string): string {
  return line.replace(
    /(^|[\s'"=(])(?:file:)?(?:\/[^/'":\n]*)+/g,
    (path, before: string) => before + path.slice(path.lastIndexOf("/") + 1),
  );
}
