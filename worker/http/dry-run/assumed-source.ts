// The source that a dry run assumes, from the query of POST /v2/jobs.
import * as z from "zod";
import { AssumedTrack, type DryRunPlan } from "#shared/api/job-responses.ts";
import type { ProbeView } from "#shared/api/probe-responses.ts";
import { AppError } from "#shared/errors.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { decimal, parseQuery } from "../query/parse-query.ts";

const flag = z
  .enum(["true", "false", "1", "0"], "must be true or false")
  .transform((text) => text === "true" || text === "1");
const between = (least: number, most: number) => {
  const allowed = `must be a number from ${least} to ${most}`;
  return z.coerce.number(allowed).min(least, allowed).max(most, allowed);
};
const side = decimal(between(16, 16_384).int("must be a whole number of pixels"));

/** JSON in a query: a list has no other form there. */
const MAX_TRACKS = 64;
const TRACKS = 'must be a JSON list of at most 64 tracks, such as [{"type":"audio","language":"en","channels":2}]';
const tracks = z.string().transform((text, context) => {
  try {
    return z.array(AssumedTrack).max(MAX_TRACKS).parse(JSON.parse(text));
  } catch {
    context.addIssue(TRACKS);
    return z.NEVER;
  }
});

export const DryRunSwitch = z.object({
  dry_run: flag.default(false).describe("Return the plan of the job without creating it"),
});
export const AssumedSource = z.object({
  width: side.default(1920).describe("With dry_run: the width of the assumed source, as coded"),
  height: side.default(1080).describe("With dry_run: the height of the assumed source, as coded"),
  fps: decimal(between(1, 240))
    .default(30)
    .describe("With dry_run: frames per second of the assumed source; 29.97 and similar values mean NTSC rates"),
  duration: decimal(between(0.1, 24 * 60 * 60))
    .default(60)
    .describe("With dry_run: seconds of the assumed source, at most a day"),
  rotation: z
    .enum(["0", "90", "180", "270"], "must be 0, 90, 180 or 270")
    .default("0")
    .transform(Number)
    .describe("With dry_run: the rotation of the assumed source in degrees clockwise"),
  audio: flag.default(true).describe("With dry_run: whether the assumed source has audio"),
  tracks: tracks
    .exactOptional()
    .describe(
      "With dry_run: the audio and subtitle tracks of the assumed source as a JSON list, instead of `audio`, such as " +
        '`[{"type":"audio","language":"en"},{"type":"subtitle","codec":"subrip"}]`. Also `title`, `channels`, and ' +
        "`dispositions` by ffprobe's names",
    ),
  probe: z
    .string()
    .exactOptional()
    .describe("With dry_run: the id of a completed probe, whose source replaces the assumed source"),
});
export type AssumedSource = z.infer<typeof AssumedSource>;

/** The source of a plan, and its summary. */
export type PlannedSource = { readonly probe: MediaProbe; readonly summary: DryRunPlan["assumed_source"] };

/** The source to assume; null without a dry run. Throws AppError(query_not_valid). */
export function parseDryRun(query: Readonly<Record<string, string>>): AssumedSource | null {
  return parseQuery(DryRunSwitch, query).dry_run ? parseQuery(AssumedSource, query) : null;
}

/** The source that a probe found. Throws AppError(probe_not_completed). */
export function probedSource({ id, status, metadata, error }: ProbeView): PlannedSource {
  if (status !== "completed" || !metadata) {
    const why = error === undefined ? "it has not ended" : `it failed: ${error}`;
    throw new AppError("probe_not_completed", `The probe has no result to plan with: ${why}`);
  }
  const { video, audio, durationMs } = sourceFacts(metadata);
  const summary = {
    width: video?.codedWidth ?? 0,
    height: video?.codedHeight ?? 0,
    fps: Math.round((video?.fps ?? 0) * 1000) / 1000,
    duration: (durationMs ?? 0) / 1000,
    rotation: video?.rotation ?? 0,
    audio: audio !== null,
    probe: id,
  };
  return { probe: metadata, summary };
}

export function assumedSource({ tracks, ...source }: AssumedSource): PlannedSource {
  const audio = tracks?.some(({ type }) => type === "audio") ?? source.audio;
  const assumed = tracks ?? (audio ? [{ type: "audio" } as const] : []);
  const summary = { ...source, audio, ...(tracks ? { tracks } : {}) };
  return { probe: probeOf(source, assumed), summary };
}

/**
 * ffprobe's output for such a source in H.264 and AAC, without fields that cannot be assumed, such as the file size.
 */
function probeOf(
  { width, height, fps, duration, rotation }: AssumedSource,
  tracks: readonly AssumedTrack[],
): MediaProbe {
  const rate = rateOf(fps);
  const length = { duration: duration.toFixed(6) };
  const video = {
    index: 0,
    codec_type: "video",
    codec_name: "h264",
    width,
    height,
    pix_fmt: "yuv420p",
    ...length,
    r_frame_rate: rate,
    avg_frame_rate: rate,
    nb_frames: String(Math.round(duration * fps)),
    // The angle of the display matrix is counterclockwise.
    ...(rotation === 0 ? {} : { side_data_list: [{ side_data_type: "Display Matrix", rotation: -rotation }] }),
  };
  const others = tracks.map(({ type, codec, language, title, channels, dispositions = [] }, at) => ({
    index: at + 1,
    codec_type: type,
    ...(type === "audio"
      ? { codec_name: codec ?? "aac", sample_rate: "48000", channels: channels ?? 2 }
      : { codec_name: codec ?? "subrip" }),
    ...length,
    tags: { ...(language === undefined ? {} : { language }), ...(title === undefined ? {} : { title }) },
    disposition: Object.fromEntries(dispositions.map((name) => [name, 1])),
  }));
  return { streams: [video, ...others], format: { format_name: "mov,mp4,m4a,3gp,3g2,mj2", ...length } };
}

/**
 * Frames per second as a fraction. 29.97 and similar values mean NTSC rates, which are slower by a factor of 1000/1001.
 */
function rateOf(fps: number): string {
  const whole = Math.round(fps * 1.001);
  const isNtsc = !Number.isInteger(fps) && Math.abs((whole * 1000) / 1001 - fps) < 0.01;
  return isNtsc ? `${whole * 1000}/1001` : `${Math.round(fps * 1000)}/1000`;
}
