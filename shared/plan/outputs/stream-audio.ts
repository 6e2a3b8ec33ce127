// Plans the audio of a stream: each track in each encoding of the variants.
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
import { fitsMpegTs, hasFragments, hasMpegTs, type StreamVariants, variantsFor } from "../streams/stream-variants.ts";
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

function encoded({ codec, ...format }: NonNullable<HttpStreamOutput["variants"][number]["audio"]>): EncodedAudio {
  if (codec === "copy") throw new Error("Audio of streams is not copied");
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
    specs: format ? [format] : audios,
  }));
}

export type StreamAudioRequest = {
  readonly spec: HttpStreamOutput;
  readonly capabilities: FfmpegCapabilities;
  readonly chunked?: boolean;
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
  { audios, videos, variants }: StreamVariants,
): Result<StreamAudioParts> {
  const { tracks, capabilities } = request;
  const parts: AudioPart[] = [];
  if (tracks.length === 0) return ok({ parts, starts: [] });
  const encoder = chooseAudioEncoder("aac", capabilities);
  if (!encoder) return err(encoderFailure("aac"));
  const isInTs = audios.map((_, index) =>
    variants.some(({ audio, video }) => audio === index && fitsMpegTs(video === null ? null : (videos[video] ?? null))),
  );
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
        parts.push(audioPart(request, rendition, { ...planned, encoder, isSegmented }));
      }
      if (rendition.traits?.isDefault ?? true) start = known < 0 ? parts.length - 1 : known;
    }
    return { part: start, group: name };
  });
  return ok({ parts, starts });
}

type PlannedEncoding = {
  readonly name: string;
  readonly group: string;
  readonly at: number;
  readonly encoding: EncodedAudio;
  readonly encoder: Parameters<typeof audioArguments>[0];
  readonly isSegmented: boolean;
};

function audioPart(
  { spec, chunked, trim }: StreamAudioRequest,
  { track, traits }: StreamAudio,
  { name, group, at, encoding, encoder, isSegmented }: PlannedEncoding,
): AudioPart {
  const files = streamFiles(`${spec.index}-${name}`, { fmp4: hasFragments(spec), ts: hasMpegTs(spec) && isSegmented });
  const file = chunked
    ? streamAudioArguments(chunkFile(spec.index, name))
    : streamArguments(files, "audio", spec.segmentDurationMs);
  const loudness = loudnessOf(spec.loudness, traits && at + 1);
  const options = audioArguments(encoder, { spec: encoding, ...STREAM_AUDIO, track, seekMs: trim.seekMs, loudness });
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
    needs: [audioEncoderNeed("aac")],
  };
}

const knownLanguage = ({ language }: AudioTrack): Pick<StreamTrack, "language"> =>
  language === UNDETERMINED ? {} : { language };

const audioName = ({ bitrateKbps }: EncodedAudio): string => `audio${bitrateKbps === null ? "" : `-${bitrateKbps}k`}`;

/** Returns the wanted name with a number if it is taken. */
export function unusedName(wanted: string, taken: readonly string[], attempt = 1): string {
  const name = attempt === 1 ? wanted : `${wanted}-${attempt}`;
  return taken.includes(name) ? unusedName(wanted, taken, attempt + 1) : name;
}
