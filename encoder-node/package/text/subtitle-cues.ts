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

const SIGNATURE = /^WEBVTT(?:[ \t].*)?$/;
const DEFINITION = /^(?:STYLE|REGION)[ \t]*$/;
const ARROW = "-->";
/** WebVTT §4.1, with a comma instead of the point too, as SubRip has it. */
const TIMING =
  /^\s*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})\s*-->\s*(?:(\d+):)?([0-5]\d):([0-5]\d)[.,](\d{3})(?:\s+(.*))?$/;

/**
 * Reads the text of a WebVTT file (WebVTT §6.1): null when it is none. Comments are left out, and so are cues that are never
 * shown and what the header says, since times are the film's own.
 */
export function parseWebVtt(text: string): WebVtt | null {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\0", "\uFFFD")
    .split(/\r\n|\n|\r/);
  if (!SIGNATURE.test(lines[0] ?? "")) return null;
  const definitions: string[] = [];
  const cues: Cue[] = [];
  for (const [at, block] of blocksOf(lines).entries()) {
    const found = cuesOf(block);
    // Styles and regions come before the first cue, or mean nothing.
    if (found.length === 0 && at > 0 && cues.length === 0 && DEFINITION.test(block[0] ?? "")) {
      definitions.push(block.join("\n"));
    }
    cues.push(...found);
  }
  return { definitions, cues: cues.toSorted((a, b) => a.startMs - b.startMs) };
}

/** The text of a file of these definitions and cues; `header` is what belongs into the first block. */
export function webVttText({ definitions, cues }: WebVtt, header: readonly string[] = []): string {
  const blocks = [["WEBVTT", ...header].join("\n"), ...definitions, ...cues.map(({ block }) => block)];
  return `${blocks.join("\n\n")}\n`;
}

/** Lines between blank ones. */
function blocksOf(lines: readonly string[]): string[][] {
  const blocks: string[][] = [[]];
  for (const line of lines) {
    if (line === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter((block) => block.length > 0);
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
    const id = at === 0 && start > 0 && !SIGNATURE.test(block[start - 1] ?? "") ? [block[start - 1]] : [];
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
