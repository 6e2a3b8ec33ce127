// Plans the non-video parts of outputs that are encoded in chunks: audio, the source's tags, and a stream's thumbnails.
import { hasTracks, type OutputSpec, type VideoOutput } from "../../job/output-spec.ts";
import { ok, type Result } from "../../result.ts";
import { AUDIO_TRACK, audioFile, audioFileArguments, chunkFile } from "../chunks/chunk-muxers.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { strictArguments } from "../command/muxers.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart, PlannedRun } from "../command/planned-run.ts";
import { fileTrim, planAudioTracks } from "../outputs/plan-file.ts";
import { planStreamParts } from "../outputs/plan-stream-tracks.ts";
import { planRun, type RunInputs } from "../runs/plan-run.ts";
import { lastEnd } from "../source/output-length.ts";
import { outputAudios } from "../source/output-tracks.ts";
import { ptsOriginArguments, ptsOriginUs } from "../source/pts-origin.ts";
import { type AudioTrack, chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { type Trim, trimArguments } from "../source/trim.ts";
import { streamTrim } from "../streams/stream-clip.ts";
import type { EncodeRequest, OutputFailure } from "./plan-encode.ts";

export type AudioRequest = RunInputs & Pick<EncodeRequest, "probe" | "audioFiles" | "outputs" | "capabilities">;

/** Files are in the run's folder. */
export type AudioPlan = {
  /** Null if there is nothing to make. */
  readonly command: {
    readonly runs: readonly PlannedRun[];
    readonly tracks: readonly { readonly output: number; readonly track: string; readonly file: string }[];
    /** Other files that the join needs: tags, and sprite sheets of a stream. */
    readonly files: readonly { readonly output: number; readonly file: string }[];
  } | null;
  readonly failures: readonly OutputFailure[];
};

/** File with the tags of the source, in ffmpeg's own text format. */
export const tagsFile = (output: number): string => `${output}-tags.txt`;

/**
 * Plans the non-video parts of outputs whose video is encoded in chunks. Each part is made in one piece, as in the
 * normal command.
 */
export function planAudio(request: AudioRequest): AudioPlan {
  const { probe, audioFiles, outputs, capabilities } = request;
  const tracks = chooseTracks(probe, audioFiles);
  const { sourceOptions, seekMs } = reading(request, tracks);
  const results = outputs.map((spec) => ({ spec, result: nonVideoParts(spec, tracks, capabilities, seekMs) }));
  const failures = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.error }],
  );
  const planned = results.flatMap(({ spec, result }) => (result.ok ? [{ output: spec.index, ...result.value }] : []));
  const parts = planned.flatMap((output) => output.parts);
  if (parts.length === 0) return { command: null, failures };
  return {
    command: {
      runs: [planRun({ inputs: request, tracks, parts, sourceOptions })],
      tracks: planned.flatMap(({ output, tracks: named }) => named.map((track) => ({ output, ...track }))),
      files: planned.flatMap(({ output, files }) => files.map((file) => ({ output, file }))),
    },
    failures,
  };
}

/** Options of the source, and the time at which its timeline then starts. All outputs share the reading. */
function reading(
  { probe, outputs }: AudioRequest,
  source: SourceTracks,
): { readonly sourceOptions: readonly string[]; readonly seekMs: number } {
  const origin = ptsOriginArguments(probe);
  const seekMs = Math.min(...outputs.map((spec) => trimOfTracks(spec, source).seekMs));
  if (seekMs === 0) return { sourceOptions: origin, seekMs };
  if (origin.length === 0) return { sourceOptions: ["-ss", seconds(seekMs)], seekMs };
  // The source keeps its own times. `-ss` counts from the start of the file.
  const seek = ["-noaccurate_seek", "-ss", seconds(seekMs + ptsOriginUs(probe) / 1000)];
  return { sourceOptions: [...origin, ...seek], seekMs: 0 };
}

function trimOfTracks(spec: OutputSpec, source: SourceTracks): Trim {
  if (!hasTracks(spec)) throw new Error("The output has no audio");
  return spec.type === "video" ? fileTrim(spec, source) : streamTrim(spec, source);
}

type NonVideoParts = {
  readonly parts: readonly CommandPart[];
  readonly tracks: readonly { readonly track: string; readonly file: string }[];
  readonly files: readonly string[];
};

function nonVideoParts(
  spec: OutputSpec,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  seekMs: number,
): Result<NonVideoParts> {
  const trim = { ...trimOfTracks(spec, source), seekMs };
  switch (spec.type) {
    case "video":
      return partsOfFile(spec, source, capabilities, trim);
    case "httpstream": {
      const stream = planStreamParts({ spec, source, capabilities, chunked: { seekMs } });
      if (!stream.ok) return stream;
      const { audios, thumbnails } = stream.value;
      return ok({
        parts: [
          ...audios.map((part) => commandPart(part, trim, part.audio)),
          ...(thumbnails
            ? [commandPart({ argv: thumbnails.argv }, trim, source.audio ? [source.audio] : [], [thumbnails.branch])]
            : []),
        ],
        tracks: audios.map(({ track }) => ({ track: track.name, file: chunkFile(spec.index, track.name) })),
        files: thumbnails?.thumbnails.files ?? [],
      });
    }
    case "image":
    case "text":
      throw new Error("The output has no audio");
  }
}

function partsOfFile(
  spec: VideoOutput,
  source: SourceTracks,
  capabilities: FfmpegCapabilities,
  trim: Trim,
): Result<NonVideoParts> {
  const selected = outputAudios(spec, trim, source);
  if (!selected.ok) return selected;
  const { audios } = selected.value;
  const planned = planAudioTracks(spec, audios, capabilities, trim.seekMs);
  if (!planned.ok) return planned;
  const [first] = audios;
  const codec = spec.audio?.codec === "copy" ? (first?.track.codec ?? null) : (first?.spec.codec ?? null);
  // The interim container may be MP4 for any container of the output.
  const strict = audios.flatMap((audio) => strictArguments("mp4", audio.spec.codec)).slice(0, 2);
  const { map, argv, graphs, inputs } = planned.value;
  const audio = first
    ? {
        argv: [...map, ...argv, ...strict, ...trimArguments(trim), ...audioFileArguments(spec, codec, capabilities)],
        graphs,
        inputs,
      }
    : null;
  const tags = spec.keepsMetadata ? ["-map_chapters", "-1", "-f", "ffmetadata", tagsFile(spec.index)] : null;
  const tracks = audios.map(({ track }) => track);
  return ok({
    parts: [
      ...(audio ? [commandPart(audio, trim, tracks)] : []),
      ...(tags ? [commandPart({ argv: tags }, trim, tracks)] : []),
    ],
    tracks: audio ? [{ track: AUDIO_TRACK, file: audioFile(spec) }] : [],
    files: tags ? [tagsFile(spec.index)] : [],
  });
}

const commandPart = (
  part: Pick<CommandPart, "argv" | "graphs" | "inputs">,
  trim: Trim,
  tracks: readonly AudioTrack[],
  branches: CommandPart["branches"] = [],
): CommandPart => ({
  ...part,
  branches,
  expectedFrames: null,
  endMs: lastEnd(trim, tracks),
  ...(trim.startMs > 0 ? { startMs: trim.startMs } : {}),
});
