// WebVTT files that say which picture belongs to which part of the film.

/** From `startMs` to `endMs` of the film, the picture that `target` names: a URL relative to the file's own. */
export type Cue = { readonly startMs: number; readonly endMs: number; readonly target: string };

/** The text of a file of these cues, which come in order of time; one that lasts less than a millisecond is left out. */
export function webVtt(cues: readonly Cue[]): string {
  const blocks = cues
    .filter(({ startMs, endMs }) => Math.round(endMs) > Math.round(startMs))
    .map(({ startMs, endMs, target }) => `${timestamp(startMs)} --> ${timestamp(endMs)}\n${target}\n`);
  return ["WEBVTT\n", ...blocks].join("\n");
}

/** `hh:mm:ss.ttt` (WebVTT §3.3). */
function timestamp(ms: number): string {
  const whole = Math.round(ms);
  const parts = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, Math.floor(whole / 1000) % 60];
  return `${parts.map((part) => String(part).padStart(2, "0")).join(":")}.${String(whole % 1000).padStart(3, "0")}`;
}

/** The relative URL that leads from one object of a storage to another. */
export function relativeUrl(from: string, to: string): string {
  const [here, there] = [from.split("/").slice(0, -1), to.split("/")];
  const differs = there.findIndex((part, at) => at === there.length - 1 || part !== here[at]);
  const up = here.slice(differs).map(() => "..");
  return [...up, ...there.slice(differs).map(encodeURIComponent)].join("/");
}
