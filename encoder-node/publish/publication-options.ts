// Inputs of a publication: the stream's spec, its plan, and its files on disk.
import type { HttpStreamOutput, SegmentFormat } from "#shared/job/output-spec.ts";
import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import type { PlannedStream } from "#shared/plan/streams/planned-stream.ts";
import type { RunFiles } from "../run-files/run-files.ts";

export type PublicationOptions = {
  readonly spec: HttpStreamOutput;
  readonly planned: PlannedOutput & { readonly stream: PlannedStream };
  /** The files that ffmpeg writes. */
  readonly files: RunFiles;
  /** The stream's folder, below the folder of each package. */
  readonly folder: string;
  readonly subtitles: readonly SubtitleFile[];
};

/** A WebVTT file on this node's disk. */
export type SubtitleFile = SubtitleTraits & {
  readonly path: string;
  /** The input's track as it is, and the time to add, if the track is ASS. */
  readonly ass?: { readonly path: string; readonly shiftMs: number };
};

export type PackageName = "hls" | "dash";

export const segmentFormatOf = (spec: HttpStreamOutput, name: PackageName): SegmentFormat =>
  name === "dash" ? "fmp4" : (spec.hls?.segments ?? "mpegts");
