// Plans a stream: its tracks and thumbnails, all with a single decode.
import { droppedNote } from "../../job/dropped-video.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { lastEnd, leastEnd } from "../source/output-length.ts";
import { earlyEndNote, fallBackNote, undecodableAudioNote } from "../source/output-tracks.ts";
import type { AudioTrack, SourceTracks } from "../source/source-tracks.ts";
import type { Trim } from "../source/trim.ts";
import type { PlannedStream } from "../streams/planned-stream.ts";
import { codecsLeftOut } from "../streams/stream-variants.ts";
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

function assemble(spec: HttpStreamOutput, source: SourceTracks, parts: StreamParts): OutputPlan {
  const { index, dropped = [], audioTracks } = spec;
  const { videos, audios, thumbnails, trim } = parts;
  const video = videos.length > 0 ? source.video : null;
  const heard = [...new Map(audios.flatMap(({ audio }) => audio).map((track) => [track, track])).keys()];
  const all = [...(video ? [video] : []), ...heard];
  const device = videos.find((part) => part.device !== null)?.device;
  const encoders = (videos.length > 0 ? videos : audios).map(({ encoder }) => encoder);
  const undecodable = source.video && !audioTracks ? source.audio?.undecodable : null;
  const notes = [
    undecodable ? undecodableAudioNote(undecodable) : parts.note,
    dropped.length > 0 ? droppedNote(dropped) : null,
    codecsNote(spec, source),
    fallBackNote(all),
    video ? earlyEndNote(trim, video, heard[0]) : null,
  ].filter((note) => note !== null);
  return {
    branches: [...videos, ...(thumbnails ? [thumbnails] : [])].map(({ branch }) => branch),
    argv: [...videos, ...audios, ...(thumbnails ? [thumbnails] : [])].flatMap(({ argv }) => argv),
    expectedFrames: videos[0]?.expectedFrames ?? null,
    ...partsOf(audios),
    endMs: lastEnd(trim, all),
    startMs: trim.startMs,
    seekMs: trim.seekMs,
    needs: [...videos, ...audios, ...(thumbnails ? [thumbnails] : [])].flatMap(({ needs }) => needs),
    planned: {
      output: index,
      files: [],
      tracks: [
        ...(video ? [{ kind: "video" as const, endMs: leastEnd(trim, video, all.length === 1) }] : []),
        ...(heard.length > 0 ? [{ kind: "audio" as const, endMs: shortestEnd(trim, heard, all.length === 1) }] : []),
      ],
      ...(notes.length > 0 ? { note: notes.join(" ") } : {}),
      encoder: [...new Set(encoders)].join(", "),
      ...(device ? { inHardware: true } : {}),
      stream: plannedStream(parts),
    },
    ...(device ? { device } : {}),
  };
}

/** Note about codecs that `hls` leaves out, or that are of no use in it; null if all are of use. */
function codecsNote(spec: HttpStreamOutput, source: SourceTracks): string | null {
  const left = codecsLeftOut(spec, source);
  const videos = spec.variants.flatMap(({ video }) => video?.codec ?? []);
  const isOnlyVp9 = spec.hls && source.video && videos.length > 0 && videos.every((codec) => codec === "vp9");
  if (isOnlyVp9) return "Safari does not play VP9 in HLS: add variants with h264 for it.";
  if (left.length === 0) return null;
  return `HLS is without ${left.join(", ")}: MPEG-TS segments hold only h264, aac and ac3. With \`segments: fmp4\` it has all.`;
}

/** Graphs and further inputs of audio. */
function partsOf(audios: StreamParts["audios"]): Pick<OutputPlan, "graphs" | "inputs"> {
  const graphs = audios.flatMap((part) => part.graphs ?? []);
  const inputs = audios.flatMap((part) => part.inputs ?? []);
  return { ...(graphs.length > 0 ? { graphs } : {}), ...(inputs.length > 0 ? { inputs } : {}) };
}

/** Earliest end of all audio tracks; null if one of them is not certain. */
function shortestEnd(trim: Trim, tracks: readonly AudioTrack[], isAlone: boolean): number | null {
  const ends = tracks.map((track) => leastEnd(trim, track, isAlone));
  const certain = ends.filter((end) => end !== null);
  return certain.length < ends.length ? null : Math.min(...certain);
}

const plannedStream = ({ variants, videos, audios, thumbnails, chapters }: StreamParts): PlannedStream => ({
  tracks: [...videos, ...audios].map(({ track }) => track),
  variants: variants.map(({ video, audio, group }) => ({
    video: video === null ? null : (videos[video]?.track.name ?? null),
    audio: audio === null ? null : (audios[audio]?.track.name ?? null),
    ...(group === undefined ? {} : { group }),
  })),
  thumbnails: thumbnails?.thumbnails ?? null,
  chapters,
});
