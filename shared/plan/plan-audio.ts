// All that is not made in chunks of outputs that are: sound, the film's tags, and a stream's small pictures.
import type { Failure } from "../errors.ts";
import type { OutputSpec, VideoOutput } from "../job/output-spec.ts";
import { AUDIO_TRACK, audioFile, audioFileArguments, chunkFile } from "./chunks/chunk-muxers.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import type { CommandPart, Refusal } from "./command/output-plan.ts";
import type { PlannedRun } from "./command/planned-command.ts";
import { type EncodeRequest, type RunInputs, runOf } from "./plan-encode.ts";
import { audioTrack, planAudioTrack } from "./plan-file.ts";
import { planStreamParts } from "./plan-stream.ts";
import { lastEnd } from "./source/output-length.ts";
import { ptsOriginArguments } from "./source/pts-origin.ts";
import { chooseTracks, type SourceTracks } from "./source/source-tracks.ts";
import { NO_TRIM } from "./source/trim.ts";

export type AudioRequest = RunInputs & Pick<EncodeRequest, "probe" | "outputs" | "capabilities">;

/** Files in the run's folder. */
export type AudioPlan = {
  /** Null when there is nothing to be made. */
  readonly command: {
    readonly runs: readonly PlannedRun[];
    readonly tracks: readonly { readonly output: number; readonly track: string; readonly file: string }[];
    /** Others that joining needs: tags, and sheets of a stream's small pictures. */
    readonly files: readonly { readonly output: number; readonly file: string }[];
  } | null;
  readonly failures: readonly { readonly output: number; readonly failure: Failure }[];
};

/** What a source says of itself, in the run's folder: a text in ffmpeg's own format. */
export const tagsFile = (output: number): string => `${output}-tags.txt`;

/** Plans the sound of outputs whose pictures are made in chunks; each is encoded whole, as the normal command does it. */
export function planAudio(request: AudioRequest): AudioPlan {
  const { probe, outputs, capabilities: can } = request;
  const source = chooseTracks(probe);
  const results = outputs.map((spec) => ({ spec, result: restOf(spec, source, can) }));
  const refusals = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.failure }],
  );
  const rests = results.flatMap(({ spec, result }) => (result.ok ? [{ output: spec.index, ...result }] : []));
  const parts = rests.flatMap((rest) => rest.parts);
  if (parts.length === 0) return { command: null, failures: refusals };
  const named = ({ output, tracks }: (typeof rests)[number]) =>
    tracks.map(({ track, file }) => ({ output, track, file }));
  return {
    command: {
      runs: [runOf(request, source, parts, ptsOriginArguments(probe))],
      tracks: rests.flatMap(named),
      files: rests.flatMap(({ output, files }) => files.map((file) => ({ output, file }))),
    },
    failures: refusals,
  };
}

type Rest = {
  readonly ok: true;
  readonly parts: readonly CommandPart[];
  readonly tracks: readonly { readonly track: string; readonly file: string }[];
  readonly files: readonly string[];
};

function restOf(spec: OutputSpec, source: SourceTracks, can: FfmpegCapabilities): Rest | Refusal {
  switch (spec.type) {
    case "video":
      return filmRest(spec, source, can);
    case "httpstream": {
      const stream = planStreamParts(spec, source, can, "sound");
      if (!stream.ok) return stream;
      const { audios: sounds, thumbnails } = stream;
      const made = [...sounds, ...(thumbnails ? [thumbnails] : [])];
      return {
        ok: true,
        parts: made.map(({ branch, argv }) => partOf(argv, source, branch ? [branch] : [])),
        tracks: sounds.map(({ track }) => ({ track: track.name, file: chunkFile(spec.index, track.name) })),
        files: thumbnails?.thumbnails?.files ?? [],
      };
    }
    case "image":
      throw new Error("Pictures of a film have no sound");
  }
}

function filmRest(spec: VideoOutput, source: SourceTracks, can: FfmpegCapabilities): Rest | Refusal {
  const track = audioTrack(spec, NO_TRIM, source);
  const sound = track && planAudioTrack(spec, track, can);
  if (sound && !sound.ok) return sound;
  const file = audioFile(spec);
  const codec = spec.audio?.codec === "copy" ? (track?.codec ?? null) : (spec.audio?.codec ?? null);
  const argv = sound
    ? ["-map", `0:${track.streamIndex}`, ...sound.argv, ...experimental(spec), ...audioFileArguments(spec, codec)]
    : null;
  const tags = spec.keepsMetadata ? ["-map_chapters", "-1", "-f", "ffmetadata", tagsFile(spec.index)] : null;
  return {
    ok: true,
    parts: [...(argv ? [partOf(argv, source)] : []), ...(tags ? [partOf(tags, source)] : [])],
    tracks: sound ? [{ track: AUDIO_TRACK, file }] : [],
    files: tags ? [tagsFile(spec.index)] : [],
  };
}

/** FLAC in mp4 counted as an experiment until ffmpeg 6. */
const experimental = ({ audio }: VideoOutput): string[] => (audio?.codec === "flac" ? ["-strict", "experimental"] : []);

const partOf = (
  argv: readonly string[],
  { audio }: SourceTracks,
  branches: CommandPart["branches"] = [],
): CommandPart => ({
  ...{ branches, argv, expectedFrames: null },
  endMs: lastEnd(NO_TRIM, audio ? [audio] : []),
});
