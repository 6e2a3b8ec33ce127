// Plans a copy of a source without the reserved color matrix that its video states.
import type { MediaProbe } from "../../media/media-probe.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import { chooseTracks } from "../source/source-tracks.ts";

/**
 * Bitstream filters that set the matrix to "unspecified". Only for codecs whose decoders take the matrix from the
 * stream.
 */
const FILTERS: Readonly<Record<string, string>> = {
  h264: "h264_metadata=matrix_coefficients=2",
  hevc: "hevc_metadata=matrix_coefficients=2",
  av1: "av1_metadata=matrix_coefficients=2",
  mpeg2video: "mpeg2_metadata=matrix_coefficients=2",
  vp9: "vp9_metadata=color_space=unknown",
};

/** Codecs that MP4 holds and QuickTime does not. */
const ONLY_IN_MP4: ReadonlySet<string | null> = new Set(["av1", "opus", "flac"]);

/**
 * A run that copies the used streams to `file` in its folder; null if the source can be decoded as it is. `allAudio`:
 * copies all audio, because outputs count the audio tracks.
 */
export function planCleanCopy(
  inputs: RunInputs,
  probe: MediaProbe,
  file: string,
  allAudio: boolean,
): PlannedRun | null {
  const tracks = chooseTracks(probe);
  const { video, audio, audios } = tracks;
  const filter = FILTERS[video?.codec ?? ""];
  if (!video?.hasReservedMatrix || filter === undefined) return null;
  const used = [video, ...(allAudio ? audios : audio ? [audio] : [])];
  const parts = [
    {
      branches: [],
      argv: [
        ...used.flatMap(({ streamIndex }) => ["-map", `0:${streamIndex}`]),
        ...["-c", "copy", "-bsf:v", filter, "-strict", "experimental"],
        ...muxerArguments(
          tracks.format,
          used.some(({ codec }) => ONLY_IN_MP4.has(codec)),
        ),
        file,
      ],
      expectedFrames: null,
      endMs: Math.max(...used.map(({ endMs }) => endMs ?? 0)) || null,
    },
  ];
  const isIso = tracks.format.includes("mp4");
  return planRun({ inputs, tracks, parts, sourceOptions: isIso ? [] : ["-fflags", "+genpts"] });
}

/** ISO files keep their edit lists. Matroska holds all other streams. */
const muxerArguments = (format: string, onlyInMp4: boolean): string[] =>
  format.includes("mp4")
    ? ["-movflags", "use_metadata_tags", "-write_tmcd", "0", "-f", onlyInMp4 ? "mp4" : "mov"]
    : ["-f", "matroska"];
