// Plans a stream: its tracks and thumbnails, all with a single decode.
import { droppedNote } from "../../job/dropped-video.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { lastEnd, leastEnd } from "../source/output-length.ts";
import { earlyEndNote, fallBackNote, undecodableAudioNote } from "../source/output-tracks.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import { NO_TRIM } from "../source/trim.ts";
import type { PlannedStream } from "../streams/planned-stream.ts";
import type { OutputPlan } from "./output-plan.ts";
import { planStreamParts, type StreamParts } from "./plan-stream-tracks.ts";

/** Plans a stream. Fails if its source lacks the tracks, or if codec or node does not support them. */
export function planStream(
  spec: HttpStreamOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
): Result<OutputPlan> {
  if (!spec.hls && !spec.dash) throw new Error("A stream has no package");
  const parts = planStreamParts({ spec, source, capabilities });
  return parts.ok ? ok(assemble(spec, source, parts.value)) : parts;
}

function assemble({ index, dropped = [] }: HttpStreamOutput, source: SourceTracks, parts: StreamParts): OutputPlan {
  const { videos, audios, thumbnails } = parts;
  const kinds = [...(videos.length > 0 ? ["video" as const] : []), ...(audios.length > 0 ? ["audio" as const] : [])];
  const tracks = kinds.flatMap((kind) => {
    const track = source[kind];
    return track ? [{ kind, track }] : [];
  });
  const device = videos.find((part) => part.device !== null)?.device;
  const encoders = (videos.length > 0 ? videos : audios).map(({ encoder }) => encoder);
  const undecodable = source.video ? source.audio?.undecodable : null;
  const notes = [
    undecodable ? undecodableAudioNote(undecodable) : null,
    dropped.length > 0 ? droppedNote(dropped) : null,
    fallBackNote(tracks.map(({ track }) => track)),
    videos.length > 0 && audios.length > 0 ? earlyEndNote(NO_TRIM, source.video, source.audio) : null,
  ].filter((note) => note !== null);
  return {
    branches: [...videos, ...(thumbnails ? [thumbnails] : [])].map(({ branch }) => branch),
    argv: [...videos, ...audios, ...(thumbnails ? [thumbnails] : [])].flatMap(({ argv }) => argv),
    expectedFrames: videos[0]?.expectedFrames ?? null,
    endMs: lastEnd(
      NO_TRIM,
      tracks.map(({ track }) => track),
    ),
    needs: [...videos, ...audios, ...(thumbnails ? [thumbnails] : [])].flatMap(({ needs }) => needs),
    planned: {
      output: index,
      files: [],
      tracks: tracks.map(({ kind, track }) => ({ kind, endMs: leastEnd(NO_TRIM, track, tracks.length === 1) })),
      ...(notes.length > 0 ? { note: notes.join(" ") } : {}),
      encoder: [...new Set(encoders)].join(", "),
      ...(device ? { inHardware: true } : {}),
      stream: plannedStream(parts),
    },
    ...(device ? { device } : {}),
  };
}

const plannedStream = ({ variants, videos, audios, thumbnails }: StreamParts): PlannedStream => ({
  tracks: [...videos, ...audios].map(({ track }) => track),
  variants: variants.map(({ video, audio }) => ({
    video: video === null ? null : (videos[video]?.track.name ?? null),
    audio: audio === null ? null : (audios[audio]?.track.name ?? null),
  })),
  thumbnails: thumbnails?.thumbnails ?? null,
});
