// Plans the audio of a stream: each track in each encoding of the variants.

import type { Failure } from "../../errors.ts";
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import type { TrackTraits } from "../../job/audio-tracks.ts";
import type { HttpStreamOutput } from "../../job/output-spec.ts";
import { UNDETERMINED } from "../../media/languages.ts";
import type { Need } from "../../protocol/needs.ts";
import { err, ok, type Result } from "../../result.ts";
import { chunkFile, streamAudioArguments } from "../chunks/chunk-muxers.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import type { CommandPart } from "../command/planned-run.ts";
import { audioArguments, type EncodedAudio, loudnessOf } from "../encoders/audio-encoders.ts";
import { audioEncoderNeed, chooseAudioEncoder, encoderFailure } from "../encoders/choose-encoder.ts";
import { isOutside } from "../source/output-tracks.ts";
import { selectAudio } from "../source/select-audio.ts";
import type { AudioTrack, SourceTracks } from "../source/source-tracks.ts";
import { type Trim, trimArguments } from "../source/trim.ts";
import type { StreamTrack } from "../streams/planned-stream.ts";
import { streamTrim } from "../streams/stream-clip.ts";
import { streamArguments, streamFiles } from "../streams/stream-muxers.ts";
import { hasFragments, hasMpegTs, type StreamVariants, variantsFor } from "../streams/stream-variants.ts";
import { mapAudio } from "./map-audio.ts";

/** Options of the audio of all renditions. */
export const STREAM_AUDIO = { container: "mp4", gaps: "filled from 0" } as const;

/** Part of a stream that can be made by itself. */
export type TrackPart = {
  readonly track: StreamTrack;
  readonly argv: readonly string[];
  readonly encoder: string;
  readonly needs: readonly Need[];
};

export type AudioPart = TrackPart & Pick<CommandPart, "graphs" | "inputs"> & { readonly audio: readonly AudioTrack[] };

/** An audio track of a stream. Without the parameter `audio` it has no traits. */
type StreamAudio = {
  readonly track: AudioTrack;
  readonly traits: TrackTraits | null;
  /** The track's own encoding; null: the encoding of each variant. */
  readonly format: EncodedAudio | null;
};

/** The source as the stream uses it: its `audio` is the track with which players start. */
export type StreamSource = {
  readonly source: SourceTracks;
  readonly tracks: readonly StreamAudio[];
  readonly note: string | null;
};

/** Chooses the audio tracks of a stream. Audio that cannot be decoded counts as missing, and audio outside of the clip, too. */
export function streamSource(spec: HttpStreamOutput, source: SourceTracks): Result<StreamSource> {
  const { audioTracks } = spec;
  const trim = streamTrim(spec, source);
  if (!audioTracks) {
    const audio = source.audio?.undecodable || isOutside(trim, source.audio) ? null : source.audio;
    const tracks = audio ? [{ track: audio, traits: null, format: null }] : [];
    return ok({ source: { ...source, audio }, tracks, note: null });
  }
  const selected = selectAudio(audioTracks, source, () => false);
  if (!selected.ok) return selected;
  const { note } = selected.value;
  const tracks = selected.value.tracks.filter(({ track }) => !isOutside(trim, track));
  const audio = tracks.find(({ traits }) => traits.isDefault)?.track ?? null;
  const all = tracks.map(({ format, ...track }) => ({ ...track, format: format && encoded(format) }));
  return ok({ source: { ...source, audio }, tracks: all, note });
}

function encoded({ codec, ...format }: AudioTrackSpec): EncodedAudio {
  if (codec === "copy") throw new Error("Tracks of a list are not copied");
  return { ...format, codec };
}

/** The tracks of a stream with their encodings; none if the stream cannot be made. `number`: null without `audio`. */
export function streamAudios(
  spec: HttpStreamOutput,
  source: SourceTracks,
): { readonly number: number | null; readonly track: AudioTrack; readonly specs: readonly EncodedAudio[] }[] {
  const chosen = streamSource(spec, source);
  if (!chosen.ok) return [];
  const { audios } = variantsFor(spec, chosen.value.source);
  return chosen.value.tracks.map(({ track, traits, format }, at) => ({
    number: traits && at + 1,
    track,
    specs: format ? [format] : audios.filter(({ codec }) => codec !== "copy").map(encoded),
  }));
}

export type StreamAudioRequest = {
  readonly spec: HttpStreamOutput;
  readonly capabilities: FfmpegCapabilities;
  readonly chunked?: { readonly seekMs: number };
  readonly tracks: readonly StreamAudio[];
  readonly trim: Trim;
};

/** `starts`: for each encoding of the variants, the index of the part with which players start. */
export type StreamAudioParts = {
  readonly parts: AudioPart[];
  readonly starts: readonly { readonly part: number; readonly group: string }[];
};

/** Plans each track in each encoding. A group has all tracks in an encoding. */
export function planAudios(
  request: StreamAudioRequest,
  { audios, variants }: StreamVariants,
): Result<StreamAudioParts> {
  const { tracks, capabilities } = request;
  const parts: AudioPart[] = [];
  if (tracks.length === 0) return ok({ parts, starts: [] });
  const failures = audios.map((audio) => audioFailure(audio, tracks, capabilities)).filter((each) => each !== null);
  if (failures[0]) return err(failures[0]);
  const isInTs = audios.map((_, index) => variants.some(({ audio, inMpegTs }) => audio === index && inMpegTs));
  const groups: string[] = [];
  const starts = audios.map((common, group) => {
    const name = unusedName(audioName(common), [...parts.map(({ track }) => track.name), ...groups]);
    groups.push(name);
    let start = 0;
    for (const [at, rendition] of tracks.entries()) {
      const known = rendition.format && group > 0 ? parts.findIndex(({ track }) => track.audio?.number === at + 1) : -1;
      const encoded = parts[known];
      if (encoded?.track.audio) {
        encoded.track.audio.groups.push(name);
      } else {
        const isStart = rendition.traits?.isDefault ?? true;
        const wanted = isStart && !rendition.format ? name : `${audioName(rendition.format ?? common)}-t${at + 1}`;
        const taken = parts.map(({ track }) => track.name);
        const planned = { name: unusedName(wanted, taken), group: name, at, encoding: rendition.format ?? common };
        const isSegmented = rendition.format ? isInTs.includes(true) : (isInTs[group] ?? false);
        parts.push(audioPart(request, rendition, { ...planned, isSegmented }));
      }
      if (rendition.traits?.isDefault ?? true) start = known < 0 ? parts.length - 1 : known;
    }
    return { part: start, group: name };
  });
  return ok({ parts, starts });
}

/** Codecs whose frames players read in a copy, by ffprobe's names. */
const COPIED: readonly (string | null)[] = ["ac3", "eac3"];

/** The failure of an encoding that the node or the source does not support; null if it can be made. */
function audioFailure(
  { codec }: AudioTrackSpec,
  tracks: readonly StreamAudio[],
  capabilities: FfmpegCapabilities,
): Failure | null {
  if (codec !== "copy") return chooseAudioEncoder(codec, capabilities) ? null : encoderFailure(codec);
  const other = tracks.find(({ track }) => !COPIED.includes(track.codec));
  if (!other) return null;
  const name = other.track.codec ?? "of an unknown codec";
  return {
    code: "copy_not_possible",
    message: `The input's audio is ${name}, and streams copy only ac3 and eac3: encode it.`,
  };
}

type PlannedEncoding = {
  readonly name: string;
  readonly group: string;
  readonly at: number;
  readonly encoding: AudioTrackSpec;
  readonly isSegmented: boolean;
};

function audioPart(
  request: StreamAudioRequest,
  { track, traits }: StreamAudio,
  { name, group, at, encoding, isSegmented }: PlannedEncoding,
): AudioPart {
  const { spec, chunked, trim } = request;
  const files = streamFiles(`${spec.index}-${name}`, { fmp4: hasFragments(spec), ts: hasMpegTs(spec) && isSegmented });
  const codec = encoding.codec === "copy" ? track.codec : encoding.codec;
  const file = chunked
    ? streamAudioArguments(chunkFile(spec.index, name), codec)
    : streamArguments(files, "audio", spec.segmentDurationMs, codec);
  const { encoder, options, needs } = encodingOf(request, track, encoding, traits && at + 1);
  const { map, argv, graphs, inputs } = mapAudio(track, options, `a${spec.index}${name.replaceAll("-", "_")}`);
  return {
    track: {
      name,
      kind: "audio",
      ...files,
      video: null,
      ...(traits ? { audio: { ...traits, number: at + 1, groups: [group] } } : knownLanguage(track)),
    },
    audio: [track],
    argv: [...map, ...argv, ...trimArguments(trim), ...file],
    ...(graphs.length > 0 ? { graphs } : {}),
    ...(inputs.length > 0 ? { inputs } : {}),
    encoder,
    needs,
  };
}

/** `number`: of the track in a list; null: no list. */
function encodingOf(
  { spec, capabilities, trim }: StreamAudioRequest,
  track: AudioTrack,
  { codec, ...encoding }: AudioTrackSpec,
  number: number | null,
): Pick<AudioPart, "encoder" | "needs"> & { readonly options: readonly string[] } {
  const encoder = codec === "copy" ? null : chooseAudioEncoder(codec, capabilities);
  if (codec === "copy" || encoder === null) return { encoder: "copy", options: ["-c:a", "copy"], needs: [] };
  // The clock of Opus in MP4 (Encapsulation of Opus in ISO Base Media File Format §4.3.2).
  const sampleRateHz = encoding.sampleRateHz ?? (codec === "opus" ? OPUS_HZ : null);
  const encoded = { spec: { ...encoding, codec, sampleRateHz }, track, seekMs: trim.seekMs };
  const loudness = loudnessOf(spec.loudness, number);
  return {
    encoder,
    options: audioArguments(encoder, { ...STREAM_AUDIO, ...encoded, loudness }),
    needs: [audioEncoderNeed(codec)],
  };
}

const OPUS_HZ = 48_000;

const knownLanguage = ({ language }: AudioTrack): Pick<StreamTrack, "language"> =>
  language === UNDETERMINED ? {} : { language };

const audioName = ({ codec, bitrateKbps }: AudioTrackSpec): string =>
  `audio${codec === "aac" ? "" : `-${codec}`}${bitrateKbps === null ? "" : `-${bitrateKbps}k`}`;

/** Returns the wanted name with a number if it is taken. */
export function unusedName(wanted: string, taken: readonly string[], attempt = 1): string {
  const name = attempt === 1 ? wanted : `${wanted}-${attempt}`;
  return taken.includes(name) ? unusedName(wanted, taken, attempt + 1) : name;
}
