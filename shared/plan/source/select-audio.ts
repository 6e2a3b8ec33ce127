// Selects the audio tracks that outputs with the parameter `audio` request.
import type { Failure } from "../../errors.ts";
import type { AudioTrackSpec } from "../../format/format-spec.ts";
import type { RequestedAudio, RequestedTrack, TrackTraits } from "../../job/audio-tracks.ts";
import { bestInLanguage, undecodableFailure } from "../../media/choose-streams.ts";
import { languageName, languageTag, UNDETERMINED } from "../../media/languages.ts";
import { err, ok, type Result } from "../../result.ts";
import { layoutOf } from "./channel-layouts.ts";
import type { AudioTrack, SourceTracks } from "./source-tracks.ts";

export type SelectedTrack = {
  readonly track: AudioTrack;
  readonly traits: TrackTraits;
  /** The track's own format; null: as the output. */
  readonly format: AudioTrackSpec | null;
};

export type SelectedAudio = {
  readonly tracks: readonly SelectedTrack[];
  /** A sentence about tracks that were left out, for the owner of the job. */
  readonly note: string | null;
};

/**
 * Selects the tracks. Fails with `input_track_not_found` if the source lacks a track that is not optional. `copies`:
 * true if tracks with this format are copied, so that they need no decoder.
 */
export function selectAudio(
  request: RequestedAudio,
  source: SourceTracks,
  copies: (format: AudioTrackSpec | null) => boolean,
): Result<SelectedAudio> {
  if (request === "all") return ok(allTracks(source, copies(null)));
  const matches: { readonly wanted: RequestedTrack; readonly track: AudioTrack }[] = [];
  const missing: string[] = [];
  for (const wanted of request) {
    const result = findTrack(wanted, source, copies(wanted.format));
    if (result.ok) matches.push({ wanted, track: result.value });
    else if (wanted.isOptional) missing.push(nameOf(wanted));
    else return result;
  }
  const first = Math.max(
    0,
    matches.findIndex(({ wanted }) => wanted.isDefault),
  );
  const tracks = matches.map(({ wanted, track }, at): SelectedTrack => {
    const language = wanted.language ?? track.language;
    const name = wanted.name ?? titleOf(track, language, at);
    const traits = { language, name, role: wanted.role ?? track.role, isDefault: at === first };
    return { track: prepared(track, wanted), traits, format: wanted.format };
  });
  return ok({ tracks: withUniqueNames(tracks), note: missingNote(missing) });
}

/** More than any broadcast has. A file may have a thousand streams. */
const MOST_TRACKS = 64;

/** The chosen track is the default, as in outputs without `audio`. */
function allTracks(source: SourceTracks, isCopied: boolean): SelectedAudio {
  const usable = source.audios.filter((track) => isUsable(track, isCopied)).slice(0, MOST_TRACKS);
  const chosen = Math.max(
    0,
    usable.findIndex(({ streamIndex }) => streamIndex === source.audio?.streamIndex),
  );
  const tracks = usable.map((track, at): SelectedTrack => {
    const { language, role } = track;
    return {
      track,
      traits: { language, name: titleOf(track, language, at), role, isDefault: at === chosen },
      format: null,
    };
  });
  const left = source.audios.flatMap((track, at) => (usable.includes(track) ? [] : [at + 1]));
  const why = usable.length < MOST_TRACKS ? "that cannot be decoded" : `beyond ${MOST_TRACKS} tracks`;
  const note = left.length === 0 ? null : `Audio tracks of the input ${why} were left out: ${shortList(left)}.`;
  return { tracks: withUniqueNames(tracks), note };
}

const isUsable = ({ undecodable }: AudioTrack, isCopied: boolean): boolean =>
  undecodable === null || (isCopied && undecodable.code === "input_codec_not_supported");

function findTrack(wanted: RequestedTrack, source: SourceTracks, isCopied: boolean): Result<AudioTrack> {
  const { from, url } = wanted;
  if (Array.isArray(from)) return mergedTrack(from, source);
  const candidate = url === null ? candidateOf(from, source, isCopied) : (source.files.get(url) ?? null);
  if (url !== null && !source.files.has(url)) return ok(UNKNOWN_FILE);
  if (!candidate) return err(notFound(`${nameOf(wanted)}, which an output requests`, source));
  if (isUsable(candidate, isCopied)) return withGains(candidate, wanted);
  return err(candidate.undecodable ? undecodableFailure(candidate.undecodable) : notFound(nameOf(wanted), source));
}

function candidateOf(
  from: number | string | null,
  { audio, audios }: SourceTracks,
  isCopied: boolean,
): AudioTrack | null {
  if (from === null) return audio;
  if (typeof from === "number") return audios[from - 1] ?? null;
  return bestInLanguage(from, audios, (track) => isUsable(track, isCopied)) ?? null;
}

/** Fails if a matrix has gains for channels that the track lacks. */
function withGains(track: AudioTrack, { map }: RequestedTrack): Result<AudioTrack> {
  const used = Math.max(0, ...(map ?? []).map((gains) => gains.findLastIndex((gain) => gain !== 0) + 1));
  if (track.channels === null || used <= track.channels) return ok(track);
  return err({
    code: "input_track_not_found",
    message: `\`map\` has gains for ${used} channels, but the audio track has ${track.channels}.`,
  });
}

function mergedTrack(numbers: readonly number[], source: SourceTracks): Result<AudioTrack> {
  const tracks = numbers.map((number) => source.audios[number - 1]);
  const present = tracks.filter((track) => track !== undefined);
  const [first] = present;
  if (!first || present.length < tracks.length) {
    return err(notFound(`the audio tracks ${numbers.join(", ")}, which an output requests`, source));
  }
  const broken = present.find(({ undecodable }) => undecodable !== null);
  if (broken?.undecodable) return err(undecodableFailure(broken.undecodable));
  const rates = [...new Set(present.map(({ sampleRateHz }) => sampleRateHz))];
  if (rates.length > 1) {
    const message = `The audio tracks ${numbers.join(", ")} of the input have different sample rates (${rates.join(", ")} Hz), so they cannot be merged.`;
    return err({ code: "input_track_not_found", message });
  }
  const channels = present.reduce((sum, track) => sum + (track.channels ?? 1), 0);
  const layout = layoutOf(channels) ?? undefined;
  const ends = present.flatMap(({ endMs }) => endMs ?? []);
  const startMs = Math.min(...present.map((track) => track.startMs));
  const endMs = ends.length < present.length ? null : Math.max(...ends);
  const named = layout ? [panText(layout, identity(channels))] : [];
  const durationMs = endMs === null ? null : endMs - startMs;
  return ok({ ...first, channels, layout, startMs, endMs, durationMs, merged: present, prepared: named });
}

const identity = (channels: number): number[][] =>
  Array.from({ length: channels }, (_, at) => [...Array<number>(at).fill(0), 1]);

/** Adds the requested matrix and offset to a track. */
function prepared(track: AudioTrack, { map, offsetMs }: RequestedTrack): AudioTrack {
  const layout = map && layoutOf(map.length);
  const mixed = layout ? { ...track, layout, channels: map.length, prepared: [panText(layout, map)] } : track;
  return offsetMs === 0 ? mixed : shifted(mixed, offsetMs);
}

/** The filters do not depend on being at the start of the source. */
function shifted(track: AudioTrack, offsetMs: number): AudioTrack {
  const late = `asetpts=PTS${offsetMs < 0 ? "" : "+"}${offsetMs / 1000}/TB`;
  const later = (ms: number | null): number | null => (ms === null ? null : Math.max(0, ms + offsetMs));
  const [startMs, endMs] = [later(track.startMs) ?? 0, later(track.endMs)];
  return {
    ...track,
    startMs,
    endMs,
    durationMs: endMs === null ? null : endMs - startMs,
    prepared: [...(track.prepared ?? []), late, ...(offsetMs < 0 ? ["atrim=start=0"] : [])],
  };
}

/** ffmpeg's filter for a matrix of channels. */
function panText(layout: string, map: readonly (readonly number[])[]): string {
  const channels = map.map((gains, at) => {
    const terms = gains.flatMap((gain, from) => (gain === 0 ? [] : [`${decimal(gain)}*c${from}`]));
    return `c${at}=${terms.length === 0 ? "0*c0" : terms.join("+").replaceAll("+-", "-")}`;
  });
  return ["pan=".concat(layout), ...channels].join("|");
}

/** Without an exponent, which the filter does not read. */
const decimal = (gain: number): string => String(Number(gain.toFixed(6)));

/** Assumed where the file is not at hand: in the control plane, and where only joined tracks are read. */
const UNKNOWN_FILE: AudioTrack = {
  streamIndex: 0,
  codec: "aac",
  undecodable: null,
  startMs: 0,
  durationMs: null,
  endMs: null,
  lastStartMs: null,
  leadMs: 0,
  fallsBackAtMs: null,
  lengthFrom: "file",
  channels: 2,
  layout: "stereo",
  sampleRateHz: 48_000,
  language: UNDETERMINED,
  title: null,
  role: "main",
  preference: [],
  file: { name: "audio-0", path: "/audio" },
};

/** Titles come from the source: quotes and control characters would end the value in a playlist. */
function titleOf({ title }: AudioTrack, language: string, at: number): string {
  const text = (title ?? "")
    .replaceAll(/["\p{Cc}]/gu, "")
    .normalize("NFC")
    .trim()
    .slice(0, MAX_NAME);
  return text || languageName(language) || `Audio ${at + 1}`;
}

const MAX_NAME = 100;

/** Renditions of a group must have different names (RFC 8216 §4.3.4.1). */
function withUniqueNames(tracks: readonly SelectedTrack[]): SelectedTrack[] {
  const seen = new Set<string>();
  return tracks.map(({ traits, ...track }) => {
    let { name } = traits;
    for (let number = 2; seen.has(name); number++) name = `${traits.name} ${number}`;
    seen.add(name);
    return { ...track, traits: { ...traits, name } };
  });
}

/** The requested track in a message. */
function nameOf({ from, url }: RequestedTrack): string {
  if (url !== null) return "audio in the file of a `url`";
  if (Array.isArray(from)) return `the audio tracks ${from.join(", ")}`;
  if (typeof from === "number") return `the audio track ${from}`;
  return from === null ? "audio" : `audio in the language \`${from}\``;
}

function notFound(what: string, { audios }: SourceTracks): Failure {
  const languages = shortList(audios.map(({ language }) => languageTag(language)));
  const has = audios.length === 0 ? "no audio track" : `${audios.length} audio tracks (${languages})`;
  return { code: "input_track_not_found", message: `The input lacks ${what}; it has ${has}.` };
}

const missingNote = (missing: readonly string[]): string | null =>
  missing.length === 0 ? null : `The input lacks ${shortList(missing)}, so this output lacks it, too.`;

const MAX_LIST_CHARS = 120;

function shortList(items: readonly (string | number)[]): string {
  const text = items.join(", ");
  return text.length <= MAX_LIST_CHARS ? text : `${text.slice(0, MAX_LIST_CHARS)}…`;
}
