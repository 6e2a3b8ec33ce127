// Brings the files that outputs need besides the source's tracks to this node's disk: watermarks, subtitles, captions
// to draw, and audio.
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { OutputSpec, TextOutput } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { AudioFile } from "#shared/plan/source/source-tracks.ts";
import { type Channels, type ChosenText, outputTexts } from "#shared/plan/text/choose-texts.ts";
import { readPath, type TextTrack, textTracks } from "#shared/plan/text/text-tracks.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { FailedOutput } from "../outputs/check-output.ts";
import type { SubtitleFile } from "../publish/publication-options.ts";
import type { SubtitleFiles } from "../publish/publisher.ts";
import { textIn } from "../publish/store-subtitles.ts";
import type { TrackBitmaps } from "../text/burn-in/burn-files.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { audioUrls, fetchAudio, fetchWatermarks } from "./fetch-extra.ts";
import { fetchSubtitles, type TrackFile, usable } from "./fetch-subtitles.ts";
import { type PackedTexts, packTexts, withCues, writtenAs } from "./pack-texts.ts";
import { type PreparedCaptions, prepareCaptions } from "./prepare-captions.ts";
import type { ReadBitmaps, ReadTexts } from "./read-texts.ts";

export type Attachments = {
  /** Files by URL. */
  readonly watermarks: ReadonlyMap<string, string>;
  readonly subtitles: SubtitleFiles;
  /** By output: the file with the text tracks of a video. */
  readonly textTracks: ReadonlyMap<number, PackedTexts>;
  /** By output: the file of an output that is text. */
  readonly texts: ReadonlyMap<number, string>;
  /** By output: sentences for the client about tracks that the output lacks. */
  readonly lacking: ReadonlyMap<number, string>;
  readonly audioFiles: readonly AudioFile[];
};

export type ExtrasWork = {
  readonly outputs: readonly OutputSpec[];
  readonly probe: MediaProbe;
  /** The folder that gets the files. */
  readonly folder: string;
  readonly readTexts: ReadTexts;
  /** Without a source: absent. */
  readonly readBitmaps?: ReadBitmaps;
  /** Without a source: absent. */
  readonly channels?: Channels;
};

/** `failed`: the outputs whose files cannot be fetched or read. */
export async function fetchExtras(
  work: ExtrasWork,
  deps: TaskDeps,
): Promise<Attachments & Pick<PreparedCaptions, "burns" | "failed">> {
  const watermarks = await fetchWatermarksOf(work.outputs, work.folder, deps);
  const subtitles = await subtitlesOf(work, deps);
  const audio = await audioOf(work, deps);
  const { burns, ...captions } = await prepareCaptions({ ...work, readTrack: captionReader(work) }, deps);
  for (const [output, note] of captions.notes) addNotes(subtitles.lacking, output, [note]);
  const failed = [...watermarks.failed, ...subtitles.failed, ...audio.failed, ...captions.failed];
  return { ...watermarks, ...subtitles, ...audio, ...(burns ? { burns } : {}), failed };
}

/** Fetches the files of audio tracks with a URL. */
export async function audioOf({ outputs, folder }: Pick<ExtrasWork, "outputs" | "folder">, deps: TaskDeps) {
  const { ffprobe, allowPrivate: allow, signal } = deps;
  const fetched = await fetchAudio({ outputs, folder, ffprobe, allow, signal });
  const audioFiles = [...fetched.values()].flatMap((file) => (file.ok ? [file.value] : []));
  const failed = outputs.flatMap((spec): FailedOutput[] => {
    const broken = audioUrls(spec)
      .flatMap((url) => fetched.get(url) ?? [])
      .find((file) => !file.ok);
    return broken && !broken.ok ? [{ output: spec.index, failure: broken.error }] : [];
  });
  return { audioFiles, failed };
}

/** Reads a track of captions to draw. */
export const captionReader =
  ({ readTexts, readBitmaps }: Pick<ExtrasWork, "readTexts" | "readBitmaps">) =>
  async (track: TextTrack): Promise<TrackFile | TrackBitmaps | null> =>
    track.content === "images" ? (readBitmaps?.(track) ?? null) : (await readTexts([track]))(track);

/** The URL of an output's watermark; null: none. */
const watermarkUrl = (spec: OutputSpec): string | null => ("watermark" in spec ? (spec.watermark?.url ?? null) : null);

/** `failed`: the outputs whose watermark cannot be fetched. */
export async function fetchWatermarksOf(outputs: readonly OutputSpec[], folder: string, deps: TaskDeps) {
  const { ffprobe, allowPrivate: allow, signal } = deps;
  const urls = outputs.flatMap((spec) => watermarkUrl(spec) ?? []);
  const fetched = await fetchWatermarks({ urls, folder, ffprobe, allow, signal });
  const watermarks = new Map([...fetched].flatMap(([url, file]) => (file.ok ? [[url, file.value]] : [])));
  const failed = outputs.flatMap((spec): FailedOutput[] => {
    const file = fetched.get(watermarkUrl(spec) ?? "");
    return file && !file.ok ? [{ output: spec.index, failure: file.error }] : [];
  });
  return { watermarks, failed };
}

/** Chooses, reads and fetches the text of outputs. `lacking` includes captions to draw. */
export async function subtitlesOf(work: ExtrasWork, deps: TaskDeps) {
  const tracks = textTracks(work.probe);
  const chosen = work.outputs.map((spec) => ({ spec, ...outputTexts(spec, tracks, work.channels) }));
  const wanted = chosen.flatMap(({ shown }) => (shown.ok ? shown.value.texts.flatMap(trackOf) : []));
  const read = await readTracks([...new Set(wanted)], work);
  const subtitles = new Map<number, readonly SubtitleFile[]>();
  const packed = new Map<number, PackedTexts>();
  const texts = new Map<number, string>();
  const lacking = new Map<number, string>();
  const failed: FailedOutput[] = [];
  for (const { spec, shown, burnt } of chosen) {
    const fetched = shown.ok ? await filesOf(spec, shown.value.texts, { read, tracks, work }, deps) : shown;
    if (!fetched.ok) {
      failed.push({ output: spec.index, failure: fetched.error });
      continue;
    }
    const { files, notes } = await withCues(spec, fetched.value.files, work.probe, deps.signal);
    const [first] = files;
    if (spec.type === "httpstream") subtitles.set(spec.index, files);
    else if (spec.type === "video" && first) {
      const pack = await usable("The subtitles of the video", () => packTexts(spec, files, work, deps));
      if (pack.ok) packed.set(spec.index, pack.value);
      else failed.push({ output: spec.index, failure: pack.error });
    } else if (spec.type === "text" && first) texts.set(spec.index, await textFile(spec, first.path));
    const ofTracks = [shown, burnt].flatMap((texts) => (texts.ok ? texts.value.notes : []));
    addNotes(lacking, spec.index, [...ofTracks, ...fetched.value.notes, ...notes]);
  }
  return { subtitles, textTracks: packed, texts, lacking, failed };
}

/** A report has no longer notes. */
const MAX_NOTE_CHARS = 450;

function addNotes(lacking: Map<number, string>, output: number, notes: readonly string[]): void {
  const note = [lacking.get(output) ?? "", ...notes].join(" ").trim();
  if (note !== "") lacking.set(output, note.length > MAX_NOTE_CHARS ? `${note.slice(0, MAX_NOTE_CHARS - 1)}…` : note);
}

/** Writes the text in the format of the output next to its WebVTT file. */
const textFile = async ({ container }: TextOutput, vtt: string): Promise<string> =>
  writtenAs(container, await textIn(vtt), vtt);

const trackOf = ({ source }: ChosenText): TextTrack[] => ("track" in source ? [source.track] : []);

const NO_FILE: TrackFile = { path: "", format: "vtt" };
type Read = Result<(track: TextTrack) => TrackFile, Failure>;

async function readTracks(tracks: readonly TextTrack[], { readTexts }: ExtrasWork): Promise<Read> {
  if (tracks.length === 0) return ok(() => NO_FILE);
  try {
    return ok(await readTexts(tracks));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return err(failureOf(error));
  }
}

type Tracks = { readonly read: Read; readonly tracks: readonly TextTrack[]; readonly work: ExtrasWork };

async function filesOf(
  { index }: OutputSpec,
  texts: readonly ChosenText[],
  { read, tracks, work }: Tracks,
  deps: TaskDeps,
) {
  const { allowPrivate: allow, signal } = deps;
  if (!read.ok && texts.some((text) => trackOf(text).length > 0)) return read;
  const fileOf = read.ok ? read.value : () => NO_FILE;
  const subtitles = texts.map(({ source, ...text }) => {
    if ("url" in source) return { ...text, source };
    const isFound = readPath(source.track) === null;
    const named = isFound ? `Subtitle track ${tracks.indexOf(source.track) + 1}` : source.track.title;
    return { ...text, source: { ...fileOf(source.track), subject: `${named} of the input` } };
  });
  const name = `${index}-subtitles`;
  const fetched = await fetchSubtitles({ subtitles, folder: work.folder, name, allow, signal });
  if (!fetched.ok) return fetched;
  const { paths, notes } = fetched.value;
  const files = texts.map(({ source, shiftMs, ...traits }, at): SubtitleFile => {
    const { path, format } = "track" in source ? fileOf(source.track) : NO_FILE;
    return { ...traits, path: paths[at] ?? "", ...(format === "ass" ? { ass: { path, shiftMs } } : {}) };
  });
  return ok({ files, notes });
}
