// Prepares the text tracks of video files: clips them to the part of the source that the file shows, and puts them into
// one Matroska file for the encode.
import { AppError } from "#shared/errors.ts";
import { type TextContainer, textCodecOf } from "#shared/format/containers.ts";
import type { OutputSpec, VideoOutput } from "#shared/job/output-spec.ts";
import type { SubtitleTraits } from "#shared/job/subtitles.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import { fileTrim } from "#shared/plan/outputs/plan-file.ts";
import type { Trim } from "#shared/plan/source/trim.ts";
import { renditionPart } from "#shared/plan/streams/stream-clip.ts";
import { packedFile, packedFormat, packedTags, planPack } from "#shared/plan/text/plan-pack.ts";
import { writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { isolated } from "../text/parsing/isolated.ts";
import { separateCues } from "../text/separate-cues.ts";
import { subRipText } from "../text/subrip.ts";
import {
  clippedCues,
  MAX_TEXT_BYTES,
  type ShownPart,
  type SubtitleFile,
  textIn,
  type WebVtt,
  webVttText,
} from "../text/subtitle-cues.ts";
import { type RunDeps, runAll } from "../workspace/run-planned.ts";
import type { TaskSource } from "../workspace/task-source.ts";

/** A file with text tracks, and their traits in order. */
export type PackedTexts = { readonly path: string; readonly traits: readonly SubtitleTraits[] };

/** `isJoined`: no run trims the text, because it is joined with tracks that are trimmed already. */
export type TextSource = TaskSource & { readonly isJoined?: boolean };

/** The files with text in the part of the source that the output shows. `notes`: sentences about the other files. */
export async function withCues(
  spec: OutputSpec,
  files: readonly SubtitleFile[],
  source: TextSource,
  signal: AbortSignal,
): Promise<{ readonly files: readonly SubtitleFile[]; readonly notes: readonly string[] }> {
  const part = spec.type === "text" && !spec.clip ? WHOLE : partOf(spec, source);
  const packed: SubtitleFile[] = [];
  const notes: string[] = [];
  for (const file of files) {
    const { ass, path, name } = file;
    const isDrawn = ass && spec.type === "video" && spec.container === "mkv";
    const hasText = isDrawn
      ? /^Dialogue:/m.test(await clippedScript(ass, part, signal))
      : clippedCues(await textIn(path), part).cues.length > 0;
    // Videos are clipped when they are packed.
    if (spec.clip && spec.type !== "video") await writeText(path, webVttText(clippedCues(await textIn(path), part)));
    if (hasText || spec.type === "text") packed.push(file);
    if (hasText) continue;
    if (spec.type === "text") notes.push("The file has no cue, because its text has none.");
    else notes.push(`This output lacks the subtitles \`${name}\`, because they have no text in its time.`);
  }
  return { files: packed, notes };
}

const WHOLE: ShownPart = { fromMs: 0, toMs: Number.POSITIVE_INFINITY, leadMs: 0 };

function partOf(spec: OutputSpec, { probe, tracks, isJoined = false }: TextSource): ShownPart {
  const trim = trimOfTexts(spec, tracks);
  const { durationMs } = sourceFacts(probe);
  const toMs = Math.min(durationMs ?? Number.POSITIVE_INFINITY, trim.endMs ?? Number.POSITIVE_INFINITY);
  // ffmpeg trims the text of files from the time at which it starts to read, and drops cues that start earlier.
  const leadMs = spec.type === "video" && !isJoined ? Math.ceil(trim.startMs - trim.seekMs) : 0;
  return { fromMs: trim.startMs, toMs, leadMs };
}

function trimOfTexts(spec: OutputSpec, tracks: TaskSource["tracks"]): Trim {
  if (spec.type === "video") return fileTrim(spec, tracks);
  const variants = spec.type === "httpstream" ? spec.variants : [];
  const { offsetMs } = renditionPart({ ...spec, variants }, tracks.video);
  return { seekMs: 0, startMs: offsetMs, endMs: spec.clip?.endMs ?? null };
}

const clippedScript = (
  { path, shiftMs }: NonNullable<SubtitleFile["ass"]>,
  part: ShownPart,
  signal: AbortSignal,
): Promise<string> => isolated("clippedTrack", [{ path, maxBytes: MAX_TEXT_BYTES }, shiftMs, part], signal);

/**
 * Packs files of `withCues`. Throws AppError `subtitle_failed` for a text that cannot be packed, and an AppError with
 * the failure of ffmpeg.
 */
export async function packTexts(
  spec: VideoOutput,
  texts: readonly SubtitleFile[],
  source: TextSource,
  deps: RunDeps,
): Promise<PackedTexts> {
  const files = await RunFiles.create(source.folder);
  const part = partOf(spec, source);
  const tracks: SubtitleFile[] = [];
  for (const [at, { path, ass, ...traits }] of texts.entries()) {
    const file = files.pathOf(`text-${at}`);
    if (ass && spec.container === "mkv") {
      await writeText(`${file}.ass`, await clippedScript(ass, part, deps.signal));
      tracks.push({ ...traits, path: `${file}.ass` });
    } else {
      const text = clippedCues(await textIn(path), part);
      // MP4 and QuickTime have a single text at a time.
      const visible = textCodecOf(spec.container) === "mov_text" ? separateCues(text) : text;
      tracks.push({ ...traits, path: await writtenAs(packedFormat(spec.container), visible, file) });
    }
  }
  const tags = files.pathOf("tags.txt");
  await writeText(tags, packedTags(spec.container, tracks));
  const failed = await runAll([planPack(spec.container, tracks, tags)], files, () => undefined, deps);
  deps.signal.throwIfAborted();
  if (failed) throw AppError.from(failed.failure);
  return { path: files.pathOf(packedFile(spec.container)), traits: texts };
}

/** The subtitles of a video with the traits that were found; none if its input has none of them. */
export function withPackedTexts(spec: OutputSpec, packed: PackedTexts | undefined): OutputSpec {
  if (spec.type !== "video") return spec;
  const { subtitles: _, ...plain } = spec;
  if (!packed) return plain;
  const subtitles = packed.traits.map(({ default: isDefault, isForced = false, isCaptions = false }) => ({
    default: isDefault,
    forced: isForced,
    kind: isCaptions ? ("captions" as const) : ("subtitles" as const),
  }));
  return { ...plain, subtitles };
}

/** Writes a file with the extension of its format, and returns its path. */
export async function writtenAs(format: TextContainer, text: WebVtt, stem: string): Promise<string> {
  const path = `${stem}.${format}`;
  await writeText(path, format === "srt" ? subRipText(text) : webVttText(text));
  return path;
}
