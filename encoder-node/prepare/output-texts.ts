// Brings the text of outputs to this node's disk, in the format in which each output has it.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { OutputSpec, TextOutput } from "#shared/job/output-spec.ts";
import { type ChosenText, outputTexts } from "#shared/plan/text/choose-texts.ts";
import { readPath, type TextTrack, textTracks } from "#shared/plan/text/text-tracks.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { FailedOutput } from "../outputs/check-output.ts";
import { type SubtitleFile, textIn } from "../text/subtitle-cues.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { fetchSubtitles, type TrackFile, usable } from "./fetch-subtitles.ts";
import { type PackedTexts, packTexts, type TextSource, withCues, writtenAs } from "./pack-texts.ts";
import type { SourceTexts } from "./read-texts.ts";

/** The files get into the folder of the source. */
type TextsWork = TextSource & { readonly outputs: readonly OutputSpec[]; readonly texts: SourceTexts };

/** By output: sentences for the client about text that the output lacks. */
export type Notes = Map<number, string>;

/**
 * Chooses, reads and fetches the text of outputs. `packed`: the text tracks of videos. `texts`: the files of outputs
 * that are text. `notes` includes captions to draw. `failed`: the outputs whose text cannot be fetched or read.
 */
export async function outputTextFiles(work: TextsWork, deps: TaskDeps) {
  const tracks = textTracks(work.probe);
  const chosen = work.outputs.map((spec) => ({ spec, ...outputTexts(spec, tracks, work.texts.channels) }));
  const wanted = chosen.flatMap(({ shown }) => (shown.ok ? shown.value.texts.flatMap(trackOf) : []));
  const read = await readTracks([...new Set(wanted)], work.texts);
  const subtitles = new Map<number, readonly SubtitleFile[]>();
  const packed = new Map<number, PackedTexts>();
  const texts = new Map<number, string>();
  const notes: Notes = new Map();
  const failed: FailedOutput[] = [];
  for (const { spec, shown, burnt } of chosen) {
    const fetched = shown.ok ? await filesOf(spec, shown.value.texts, { read, tracks, work }, deps) : shown;
    if (!fetched.ok) {
      failed.push({ output: spec.index, failure: fetched.error });
      continue;
    }
    const { files, notes: ofFiles } = await withCues(spec, fetched.value.files, work, deps.signal);
    const [first] = files;
    if (spec.type === "httpstream") subtitles.set(spec.index, files);
    else if (spec.type === "video" && first) {
      const pack = await usable("The subtitles of the video", () => packTexts(spec, files, work, deps));
      if (pack.ok) packed.set(spec.index, pack.value);
      else failed.push({ output: spec.index, failure: pack.error });
    } else if (spec.type === "text" && first) texts.set(spec.index, await textFile(spec, first.path));
    const ofTracks = [shown, burnt].flatMap((texts) => (texts.ok ? texts.value.notes : []));
    addNotes(notes, spec.index, [...ofTracks, ...fetched.value.notes, ...ofFiles]);
  }
  return { subtitles, packed, texts, notes, failed };
}

/** A report has no longer notes. */
const MAX_NOTE_CHARS = 450;

export function addNotes(all: Notes, output: number, notes: readonly string[]): void {
  const note = [all.get(output) ?? "", ...notes].join(" ").trim();
  if (note !== "") all.set(output, note.length > MAX_NOTE_CHARS ? `${note.slice(0, MAX_NOTE_CHARS - 1)}…` : note);
}

/** Writes the text in the format of the output next to its WebVTT file. */
const textFile = async ({ container }: TextOutput, vtt: string): Promise<string> =>
  writtenAs(container, await textIn(vtt), vtt);

const trackOf = ({ source }: ChosenText): TextTrack[] => ("track" in source ? [source.track] : []);

const NO_FILE: TrackFile = { path: "", format: "vtt" };
type Read = Result<(track: TextTrack) => TrackFile, Failure>;

async function readTracks(tracks: readonly TextTrack[], { readTexts }: SourceTexts): Promise<Read> {
  if (tracks.length === 0) return ok(() => NO_FILE);
  try {
    return ok(await readTexts(tracks));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return err(failureOf(error));
  }
}

type Tracks = { readonly read: Read; readonly tracks: readonly TextTrack[]; readonly work: TextsWork };

async function filesOf(
  { index }: OutputSpec,
  texts: readonly ChosenText[],
  { read, tracks, work }: Tracks,
  deps: TaskDeps,
) {
  if (!read.ok && texts.some((text) => trackOf(text).length > 0)) return read;
  const fileOf = read.ok ? read.value : () => NO_FILE;
  const subtitles = texts.map(({ source, ...text }) => {
    if ("url" in source) return { ...text, source };
    const isFound = readPath(source.track) === null;
    const named = isFound ? `Subtitle track ${tracks.indexOf(source.track) + 1}` : (source.track.title ?? "The speech");
    return { ...text, source: { ...fileOf(source.track), subject: `${named} of the input` } };
  });
  const place = { parent: work.folder, name: `${index}-subtitles` };
  const fetched = await fetchSubtitles(subtitles, place, deps);
  if (!fetched.ok) return fetched;
  const { paths, notes } = fetched.value;
  const files = texts.map(({ source, shiftMs, ...traits }, at): SubtitleFile => {
    const { path, format } = "track" in source ? fileOf(source.track) : NO_FILE;
    return { ...traits, path: paths[at] ?? "", ...(format === "ass" ? { ass: { path, shiftMs } } : {}) };
  });
  return ok({ files, notes });
}
