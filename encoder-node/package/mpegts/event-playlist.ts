// Reads ffmpeg's own playlist of finished segments (RFC 8216 §4.3.2.1), which grows line by line.

export type EventPlaylist = {
  /** Whether no more segments follow. */
  readonly isFinished: boolean;
  readonly segments: readonly { readonly name: string; readonly seconds: number }[];
};

/** Throws when a segment has no duration. */
export function readEventPlaylist(text: string): EventPlaylist {
  const lines = text.split("\n").map((line) => line.trim());
  const names = lines.flatMap((line, at) => (line === "" || line.startsWith("#") ? [] : [{ name: line, at }]));
  return {
    isFinished: lines.includes("#EXT-X-ENDLIST"),
    segments: names.map(({ name, at }) => ({ name, seconds: durationIn(lines[at - 1]) })),
  };
}

function durationIn(line = ""): number {
  const seconds = Number.parseFloat(/^#EXTINF:(.*),/.exec(line)?.[1] ?? "");
  if (!(seconds >= 0)) throw new Error("Segment in ffmpeg's playlist has no duration");
  return seconds;
}
