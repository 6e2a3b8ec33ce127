// Extracts the facts about a source that planning needs from its probe.
import { chosenAudio, chosenVideo } from "./choose-streams.ts";
import { fraction, type MediaProbe, type ProbedStream, rotationOf } from "./media-probe.ts";
import { timelineStartUs } from "./timeline-start.ts";

export type VideoFacts = {
  /** Size of the coded frame, before rotation. */
  codedWidth: number;
  codedHeight: number;
  /** Rotation that players apply, in degrees clockwise: 0, 90, 180 or 270 (contract: `input.rotation`). */
  rotation: number;
  /** Size of the displayed frame: rotated, with square pixels. */
  displayWidth: number;
  displayHeight: number;
  /** Mean frames per second; null if unknown. */
  fps: number | null;
  /** True if the stream's frame rates agree. If not, frames keep their timestamps. */
  constantFrameRate: boolean;
};

export type SourceFacts = {
  durationMs: number | null;
  video: VideoFacts | null;
  audio: { sampleRateHz: number | null; channels: number | null } | null;
};

/** Returns the facts about the video stream and the audio stream that outputs use. */
export function sourceFacts(probe: MediaProbe): SourceFacts {
  const video = chosenVideo(probe.streams);
  const audio = chosenAudio(probe.streams);
  const seconds =
    packetSeconds(probe) ?? positive(probe.format.duration) ?? positive(video?.duration) ?? positive(audio?.duration);
  return {
    durationMs: seconds === null ? null : Math.round(seconds * 1000),
    video: video ? videoFacts(video) : null,
    audio: audio ? { sampleRateHz: positive(audio.sample_rate), channels: audio.channels ?? null } : null,
  };
}

/**
 * Returns the total duration of the streams whose packets were read; null if no packets were read, or only a part of
 * them.
 */
function packetSeconds(probe: MediaProbe): number | null {
  const read = probe.streams.filter(({ packets }) => packets !== undefined);
  const times = read.flatMap(({ packets }) => packets ?? []);
  if (times.length === 0 || times.some(({ ends_early }) => ends_early)) return null;
  const seconds = Math.max(...times.map(({ end }) => end)) - timelineStartUs(probe, read) / 1e6;
  return seconds > 0 ? seconds : null;
}

function videoFacts(stream: ProbedStream): VideoFacts {
  const codedWidth = stream.width ?? 0;
  const codedHeight = stream.height ?? 0;
  const rotation = rotationOf(stream);
  const wide = Math.max(1, Math.round(codedWidth * (fraction(stream.sample_aspect_ratio) ?? 1)));
  const sideways = rotation % 180 === 90;
  const mean = fraction(stream.avg_frame_rate);
  const base = fraction(stream.r_frame_rate);
  return {
    codedWidth,
    codedHeight,
    rotation,
    displayWidth: sideways ? codedHeight : wide,
    displayHeight: sideways ? wide : codedHeight,
    fps: mean ?? base,
    constantFrameRate: mean !== null && base !== null && Math.abs(base - mean) <= mean * 0.001,
  };
}

function positive(text: string | undefined): number | null {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : null;
}
