// The fields of `input` that select the part of the source to encode: `start` and `end`.
import * as z from "zod";
import type { Clip } from "../job/clip.ts";
import type { OutputSpec, VideoOutput } from "../job/output-spec.ts";
import type { SubtitleSpec } from "../job/subtitles.ts";
import { ok, type Result } from "../result.ts";
import { invalid, parseSection } from "./parse-section.ts";

const MAX_SECONDS = 1_000_000;
const time = z
  .number("must be a number of seconds")
  .min(0, "must be 0 or more")
  .max(MAX_SECONDS, `must be at most ${MAX_SECONDS}`)
  .optional();

export const clipFields = {
  start: time.clone().describe("Start of the part of the file to encode, in seconds; 0 by default"),
  end: time.clone().describe("End of the part of the file to encode, in seconds; the end of the file by default"),
};

const rounded = (value: number): number => Math.round(value * 1000);

/** The clip of a job; undefined if its whole source is encoded. */
export function parseClip(start: unknown, end: unknown): Result<Clip | undefined> {
  if (start === undefined && end === undefined) return ok(undefined);
  const parsed = parseSection(z.object(clipFields), { start, end }, "input", "input_not_valid");
  if (!parsed.ok) return parsed;
  const startMs = rounded(parsed.value.start ?? 0);
  const endMs = parsed.value.end === undefined ? null : rounded(parsed.value.end);
  if (endMs !== null && endMs <= startMs) {
    return invalid("input_not_valid", `\`input.end\` must be greater than \`input.start\` (${startMs / 1000})`);
  }
  return ok(startMs === 0 && endMs === null ? undefined : { startMs, endMs });
}

/** Outputs of the clip. Files of outputs start with the clip, so their audio and text is later in the source. */
export function withClip(outputs: OutputSpec[], clip: Clip | undefined): Result<OutputSpec[]> {
  if (!clip) return ok(outputs);
  for (const output of outputs) {
    const reason = output.type === "video" ? unclippable(output, clip) : null;
    if (reason) return invalid("output_param_not_valid", `\`outputs.${output.key}\` ${reason}`);
  }
  return ok(outputs.map((output) => clipped(output, clip)));
}

function unclippable({ video, audio, audioTracks, subtitles, offsetMs }: VideoOutput, clip: Clip): string | null {
  if (clip.endMs !== null && offsetMs >= clip.endMs - clip.startMs) {
    return `has an \`offset\` that is not before the end of the clip, which lasts ${(clip.endMs - clip.startMs) / 1000} s`;
  }
  const tracks = typeof audioTracks === "object" ? audioTracks : [];
  if (clip.startMs === 0) return null;
  const isCopy = (video ?? audio)?.codec === "copy";
  if (isCopy && (subtitles || tracks.some(({ url, offsetMs: ms }) => url !== null || ms !== 0))) {
    return "is a copy, which starts at a keyframe of the clip: `subtitles` and audio with a `url` or `offset` are not allowed";
  }
  const copiesFile = tracks.some(({ url, format }) => url !== null && (format ?? audio)?.codec === "copy");
  return copiesFile ? "copies audio of a `url`, which is not possible with `input.start`: encode the audio" : null;
}

function clipped(output: OutputSpec, clip: Clip): OutputSpec {
  const later = withLaterFiles({ ...output, clip }, clip.startMs);
  if (later.type !== "video") return later;
  const { offsetMs, durationMs } = later;
  const rest = clip.endMs === null ? null : clip.endMs - clip.startMs - offsetMs;
  const lengths = [durationMs, rest].filter((ms) => ms !== null);
  return {
    ...later,
    offsetMs: clip.startMs + offsetMs,
    durationMs: lengths.length === 0 ? null : Math.min(...lengths),
  };
}

/** The output with the files at its URLs moved from the start of the clip to that time of the source. */
function withLaterFiles<Output extends OutputSpec>(output: Output, byMs: number): Output {
  const moved = { ...output };
  if ("burn" in moved && moved.burn?.url !== undefined) {
    moved.burn = { ...moved.burn, shiftMs: moved.burn.shiftMs + byMs };
  }
  if ("subtitles" in moved && typeof moved.subtitles === "object")
    moved.subtitles = moved.subtitles.map((text) => later(text, byMs));
  if (moved.type === "text") moved.text = later(moved.text, byMs);
  if ("audioTracks" in moved && typeof moved.audioTracks === "object") {
    moved.audioTracks = moved.audioTracks.map((track) =>
      track.url === null ? track : { ...track, offsetMs: track.offsetMs + byMs },
    );
  }
  return moved;
}

const later = (text: SubtitleSpec, byMs: number): SubtitleSpec =>
  text.url === undefined ? text : { ...text, shiftMs: (text.shiftMs ?? 0) + byMs };
