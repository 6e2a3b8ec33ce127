// Maps audio tracks into outputs: their streams, filters, names and purposes.
import type { TrackContainer } from "../../format/containers.ts";
import type { AudioRole, TrackTraits } from "../../job/audio-tracks.ts";
import type { VideoOutput } from "../../job/output-spec.ts";
import { languageCode, quickTimeLanguage } from "../../media/languages.ts";
import { chainText } from "../command/filter-text.ts";
import { ISO } from "../command/muxers.ts";
import type { CommandPart, NamedInput } from "../command/planned-run.ts";
import { FILL_GAPS } from "../encoders/audio-filters.ts";
import { sourceLayout } from "../source/channel-layouts.ts";
import type { AudioTrack } from "../source/source-tracks.ts";

/** Pieces of a command that read a track and encode it. `argv` starts with the stream's `-map`. */
export type MappedAudio = Required<Pick<CommandPart, "graphs" | "inputs">> & {
  readonly map: readonly string[];
  readonly argv: readonly string[];
};

/**
 * Maps a track that is encoded with `argv`. Merged tracks get their filters in a graph, whose end has the `label`,
 * because ffmpeg has no other filters with several inputs.
 */
export function mapAudio(track: AudioTrack, argv: readonly string[], label: string): MappedAudio {
  const { merged, file, streamIndex } = track;
  if (!merged) {
    const map = ["-map", `${file ? `@${file.name}` : 0}:${streamIndex}`];
    return { map, argv, graphs: [], inputs: file ? [file] : [] };
  }
  const at = argv.indexOf("-af");
  const filters = at < 0 ? [] : argv.slice(at + 1, at + 2);
  const rest = at < 0 ? argv : [...argv.slice(0, at), ...argv.slice(at + 2)];
  return { map: ["-map", `[${label}]`], argv: rest, graphs: [mergeGraph(merged, filters, label)], inputs: [] };
}

/**
 * `amerge` does not look at timestamps, and ends with the first track that ends. So tracks with different starts first
 * get silence up to their start, and shorter tracks get endless silence.
 */
function mergeGraph(merged: NonNullable<AudioTrack["merged"]>, filters: readonly string[], label: string): string {
  const isTogether = merged.every(({ startMs }) => startMs === merged[0]?.startMs);
  const endMs = Math.max(...merged.map((track) => track.endMs ?? Infinity));
  const inputs = merged.map((track, at) => {
    const isShorter = track.endMs !== null && track.endMs < endMs;
    const chain = [...(isTogether ? [] : [FROM_ZERO, ...layoutFilter(track)]), ...(isShorter ? ["apad"] : [])];
    const source = `[0:${track.streamIndex}]`;
    const end = `[${label}m${at}]`;
    return chain.length === 0 ? { end: source, chain: [] } : { end, chain: [`${source}${chainText(chain)}${end}`] };
  });
  const merge = [chainText([`amerge=inputs=${merged.length}`]), ...filters].join(",");
  const ends = inputs.map(({ end }) => end).join("");
  return [...inputs.flatMap(({ chain }) => chain), `${ends}${merge}[${label}]`].join(";");
}

const FROM_ZERO = `${FILL_GAPS}:first_pts=0`;

/** `amerge` needs inputs of a certain layout, and `aresample` could return any. */
function layoutFilter({ layout, channels }: AudioTrack): string[] {
  const named = sourceLayout(layout, channels);
  return named === null ? [] : [`aformat=channel_layouts=${named}`];
}

/** Options of a single stream by the options of all audio streams. */
const PER_STREAM: Readonly<Record<string, string>> = {
  "-c:a": "-c:a",
  "-af": "-filter:a",
  "-b:a": "-b:a",
  "-ar": "-ar:a",
};

/** Encoding options for audio stream number `at` of an output. */
export const forStream = (argv: readonly string[], at: number): string[] =>
  argv.map((argument, place) => {
    const name = place % 2 === 0 ? PER_STREAM[argument] : undefined;
    return name === undefined ? argument : `${name}:${at}`;
  });

/** Dispositions by ffmpeg's names. */
const DISPOSITIONS: Readonly<Record<AudioRole, string | null>> = {
  main: null,
  dub: "dub",
  commentary: "comment",
  description: "visual_impaired",
  clear: "hearing_impaired",
};

/**
 * Options that give the audio streams of a file their languages, names and purposes, and the input with the text. No
 * text of a client is in an argument. In ISO files names are handler names, too, which most players show.
 */
export function traitArguments(
  { index: output, container }: Pick<VideoOutput, "index" | "container">,
  all: readonly TrackTraits[],
): { readonly argv: readonly string[]; readonly inputs: readonly NamedInput[] } {
  const name = `traits-${output}`;
  const text = [";FFMETADATA1", ...all.flatMap((traits) => sectionOf(traits, container)), ""].join("\n");
  const argv = all.flatMap(({ role, isDefault }, at) => {
    const flags = [isDefault ? "default" : null, DISPOSITIONS[role]].filter((flag) => flag !== null);
    return [
      ...[`-map_metadata:s:a:${at}`, `@${name}:s:${at}`],
      ...[`-disposition:a:${at}`, flags.length === 0 ? "0" : flags.join("+")],
    ];
  });
  return { argv, inputs: [{ name, path: `${output}-traits.txt`, kind: "tags", text }] };
}

/** The section of a stream in ffmpeg's format of tags. */
export const sectionOf = (
  { language, name }: Pick<TrackTraits, "language" | "name">,
  container: TrackContainer,
): string[] => [
  "[STREAM]",
  `language=${container === "mov" ? quickTimeLanguage(language) : languageCode(language)}`,
  `title=${escapedTag(name)}`,
  ...(ISO.has(container) ? [`handler_name=${escapedTag(name)}`] : []),
];

/** ffmpeg's format of tags (libavformat/ffmetadec.c). */
export const escapedTag = (text: string): string => text.replaceAll(/[=;#\\\n]/g, String.raw`\$&`);
