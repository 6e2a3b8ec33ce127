// Reads WebVTT as clients send it, and writes it again. Data from outside: whatever cannot be read is passed over.

/** A text that is on the screen for a time. */
export type Cue = {
  readonly startMs: number;
  readonly endMs: number;
  /** Its identifier, times, settings and text, as a block of a WebVTT file. */
  readonly block: string;
};

export type WebVtt = {
  /** Blocks of styles and regions, which cues refer to. */
  readonly definitions: readonly string[];
  /** In the order of their beginning. */
  readonly cues: readonly Cue[];
};

/** No character but these may follow the name (WebVTT §4.1). */
const SIGNATURE = /^WEBVTT(?:[ \t\n\r]|$)/;
const DEFINITION = /^(?:STYLE|REGION)[ \t]*$/;
const ARROW = "-->";
/**
 * WebVTT §4.1, with a comma instead of the point too, as SubRip has it. No two repetitions may share a character, and the
 * last one takes whatever is left: or a line of a million blanks takes minutes.
 */
const TIMING =
  /^[ \t]*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})[ \t]*-->[ \t]*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})(?:[ \t](.*))?$/s;

/** Whether a text, without byte order mark, says that it is WebVTT. */
export const isWebVtt = (text: string): boolean => SIGNATURE.test(text);

/**
 * Reads the text of a WebVTT file (WebVTT §6.1): null when it is none. Comments are left out, and so are cues that are never
 * shown and what the header says, since times are the film's own.
 */
export function parseWebVtt(text: string): WebVtt | null {
  const plain = plainLines(text.replace(/^\uFEFF/, ""));
  if (!isWebVtt(plain)) return null;
  const definitions: string[] = [];
  const cues: Cue[] = [];
  for (const block of blocksOf(plain)) {
    const found = cuesOf(block);
    // Styles and regions come before the first cue, or mean nothing.
    if (found.length === 0 && cues.length === 0 && DEFINITION.test(block[0] ?? "")) {
      definitions.push(block.join("\n"));
    }
    for (const cue of found) cues.push(cue);
  }
  return { definitions, cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

/** The text of a file of these definitions and cues; `header` is what belongs into the first block. */
export function webVttText({ definitions, cues }: WebVtt, header: readonly string[] = []): string {
  const blocks = [["WEBVTT", ...header].join("\n"), ...definitions, ...cues.map(({ block }) => block)];
  return `${blocks.join("\n\n")}\n`;
}

/** A text whose lines all end with a line feed. */
export const plainLines = (text: string): string => text.replace(/\r\n/g, "\n").replace(/\r/g, "\n");

/** Lines between blank ones, one block at a time: millions of tiny ones would take much memory together. */
function* blocksOf(text: string): Generator<string[]> {
  let block: string[] = [];
  for (let from = 0; from <= text.length; ) {
    const end = text.indexOf("\n", from);
    const line = text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length + 1 : end + 1;
    if (line !== "") block.push(line);
    else if (block.length > 0) {
      yield block;
      block = [];
    }
  }
  if (block.length > 0) yield block;
}

/** A line of times begins a cue wherever it stands: a blank line may be missing before it. */
function cuesOf(block: readonly string[]): Cue[] {
  const starts = block.flatMap((line, at) => (line.includes(ARROW) ? [at] : []));
  return starts.flatMap((start, at) => {
    const match = TIMING.exec(block[start] ?? "");
    const text = block.slice(start + 1, starts[at + 1]);
    if (!match || text.length === 0) return [];
    const [from, to] = [timeOf(match.slice(1, 5)), timeOf(match.slice(5, 9))];
    if (to.ms <= from.ms) return [];
    const id = at === 0 && start > 0 && !isWebVtt(block[start - 1] ?? "") ? [block[start - 1]] : [];
    const settings = match[9]?.trim();
    const times = `${from.text} ${ARROW} ${to.text}${settings ? ` ${settings}` : ""}`;
    return [{ startMs: from.ms, endMs: to.ms, block: [...id, times, ...text].join("\n") }];
  });
}

function timeOf([hours = "0", minutes = "", seconds = "", ms = ""]: readonly (string | undefined)[]): {
  ms: number;
  text: string;
} {
  return {
    ms: ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms),
    text: `${hours.padStart(2, "0")}:${minutes}:${seconds}.${ms}`,
  };
}
