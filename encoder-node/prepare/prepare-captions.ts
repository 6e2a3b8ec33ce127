// Fetches the captions and fonts that outputs draw, and writes the scripts for libass.
import { copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError, failureOf } from "#shared/errors.ts";
import type { BurnSpec, CaptionStyle } from "#shared/job/burn.ts";
import { burnOf, type OutputSpec } from "#shared/job/output-spec.ts";
import { type TextOverlay, textOverlays } from "#shared/job/overlays.ts";
import { overlayFailure } from "#shared/plan/filters/overlays/overlay-times.ts";
import { chooseBurnt } from "#shared/plan/text/choose-texts.ts";
import { textTracks } from "#shared/plan/text/text-tracks.ts";
import { err, ok, type Result } from "#shared/result.ts";
import type { FailedOutput } from "../outputs/check-output.ts";
import type { AssScript } from "../text/ass/ass-script.ts";
import type { Burns, TrackBitmaps } from "../text/burn-in/burn-files.ts";
import { captionScript, overlayScript } from "../text/burn-in/caption-script.ts";
import {
  checkLetters,
  type FontFile,
  type Fonts,
  findFonts,
  MAX_FONT_BYTES,
  PACKAGED_FAMILY,
  packagedFonts,
  readFontFile,
} from "../text/burn-in/node-fonts.ts";
import { isolated } from "../text/parsing/isolated.ts";
import type { Script } from "../text/parsing/parsers.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import type { TaskSource } from "../workspace/task-source.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";
import { MAX_TRACK_BYTES } from "./fetch-subtitles.ts";
import type { SourceTexts } from "./read-texts.ts";

/** Hours of speech are a few hundred kilobytes; ASS with effects has megabytes. */
const MAX_CAPTION_BYTES = 10e6;

export type CaptionsWork = Pick<TaskSource, "probe" | "folder"> & {
  readonly outputs: readonly OutputSpec[];
  readonly texts: SourceTexts;
};

/** `burns` is absent if no output has captions. `failed`: the outputs whose files cannot be used. */
export type PreparedCaptions = {
  readonly burns?: Burns;
  readonly failed: FailedOutput[];
  /** By output: sentences for the client about captions that are lost. */
  readonly notes: Map<number, string>;
};

/** Fetches the files into a new folder in the workspace. Rejects as `fetchExtra` does. */
export async function prepareCaptions(work: CaptionsWork, deps: FontDeps): Promise<PreparedCaptions> {
  const failed: PreparedCaptions["failed"] = [];
  const notes: PreparedCaptions["notes"] = new Map();
  const burning = work.outputs.flatMap((spec) => {
    const burn = burnOf(spec);
    return burn ? [{ index: spec.index, burn }] : [];
  });
  const overlaid = work.outputs.flatMap((spec) =>
    spec.type === "text" || !spec.overlays?.some((overlay) => !("url" in overlay)) ? [] : [spec],
  );
  if (burning.length === 0 && overlaid.length === 0) return { failed, notes };
  const fontsFolder = join(work.folder, "fonts");
  await mkdir(fontsFolder);
  const packaged = await packagedFonts();
  for (const { path } of packaged) await copyFile(path, join(fontsFolder, basename(path)));
  const scripts = new Map<number, AssScript>();
  const bitmaps = new Map<number, TrackBitmaps>();
  for (const { index, burn } of burning) {
    const font = { name: String(index), font: burn.style.font, path: join(work.folder, `font-${index}.bin`) };
    const fonts = await requestedFont(font, { fontsFolder, packaged }, deps);
    const captions = fonts.ok ? await captionsFor({ index, burn, fonts: fonts.value }, work, deps) : fonts;
    if (!captions.ok) failed.push({ output: index, failure: captions.error });
    else if ("path" in captions.value) bitmaps.set(index, captions.value);
    else {
      const { script, notes: ofScript } = captions.value;
      scripts.set(index, script);
      if (ofScript.length > 0) notes.set(index, `The captions of \`burn\`: ${ofScript.join("; ")}.`);
    }
  }
  const texts = new Map<string, AssScript>();
  for (const { index, overlays } of overlaid) {
    for (const { at, overlay } of textOverlays(overlays)) {
      const key = `${index}-${at}`;
      const script = await overlaidText(key, at, overlay, { fontsFolder, packaged }, deps);
      if (script.ok) texts.set(key, script.value);
      else failed.push({ output: index, failure: script.error });
    }
  }
  return { burns: { scripts, bitmaps, texts, fontsFolder }, failed, notes };
}

async function overlaidText(
  key: string,
  at: number,
  overlay: TextOverlay,
  place: FontPlace,
  deps: FontDeps,
): Promise<Result<AssScript>> {
  const font = overlay.font === null ? null : { name: overlay.font };
  const fonts = await requestedFont({ name: `text-${key}`, font, path: "" }, place, deps);
  if (!fonts.ok) return fonts;
  const script = overlayScript(overlay, fonts.value.chosen);
  const missing = await checkLetters(script, fonts.value.known).catch((error: AppError) => error);
  return missing ? err(overlayFailure(at, missing.message)) : ok(script);
}

type Wanted = { readonly index: number; readonly burn: BurnSpec; readonly fonts: Fonts };

type Captions = Result<Script | TrackBitmaps>;

async function captionsFor(wanted: Wanted, work: CaptionsWork, deps: FontDeps): Promise<Captions> {
  const { index, burn } = wanted;
  if (burn.url === undefined) return captionsOfTrack(wanted, work, deps);
  const path = join(work.folder, `captions-${index}.bin`);
  const file = { path, maxBytes: MAX_CAPTION_BYTES };
  const read = (): Promise<Script> =>
    isolated("captionScript", [file, { language: "", format: null }, burn, wanted.fonts], deps.signal);
  return fetchExtra({ ...CAPTIONS, url: burn.url, path }, read, deps);
}

/** The captions of a track of the input: an empty script if the input lacks an optional track. */
async function captionsOfTrack(
  { burn, fonts }: Wanted,
  { probe, texts }: CaptionsWork,
  { signal }: FontDeps,
): Promise<Captions> {
  const chosen = chooseBurnt(burn, textTracks(probe), texts.channels);
  if (!chosen.ok) return chosen;
  const [text] = chosen.value.texts;
  const empty = { script: captionScript([], burn.style, fonts.chosen, false), notes: [] };
  if (!text || !("track" in text.source)) return ok(empty);
  const { track } = text.source;
  try {
    if (track.content === "images") return ok((await texts.readBitmaps?.(track)) ?? empty);
    const read = (await texts.readTexts([track]))(track);
    const file = { path: read.path, maxBytes: MAX_TRACK_BYTES };
    const known = { language: track.language, format: read.format };
    return ok(await isolated("captionScript", [file, known, burn, fonts], signal));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = failureOf(error);
    return err({
      code,
      message: code === "subtitle_failed" ? `The captions of the input cannot be used: ${message}.` : message,
    });
  }
}

const CAPTIONS = {
  code: "subtitle_failed",
  maxBytes: MAX_CAPTION_BYTES,
  subject: "The file of `burn`",
  expected: "a file of captions",
} as const;

// Brings the font of an output into the folder of its task.

type FontPlace = { readonly fontsFolder: string; readonly packaged: readonly FontFile[] };
type FontDeps = ExtraDeps & Pick<TaskDeps, "fontsFolder">;

/** Copies the requested font into the folder of the fonts for libass. Rejects as `fetchExtra` does. */
async function requestedFont(
  { name, font, path }: { readonly name: string; readonly font: CaptionStyle["font"]; readonly path: string },
  { fontsFolder, packaged }: FontPlace,
  deps: FontDeps,
): Promise<Result<Fonts>> {
  const files = await filesOf(font, path, deps);
  if (!files.ok) return files;
  const requested = files.value;
  for (const [at, { path }] of requested.entries()) await copyFile(path, join(fontsFolder, `${name}-${at}`));
  const chosen = requested[0] ?? packaged.find(({ family }) => family === PACKAGED_FAMILY);
  if (!chosen) throw new Error("The packaged fonts are not complete");
  return ok({ chosen, known: [...packaged, ...requested] });
}

const FONT = {
  code: "subtitle_failed",
  maxBytes: MAX_FONT_BYTES,
  subject: "The font",
  expected: "a TTF or OTF file with an English name",
} as const;

/** The files of the requested family; none for the packaged font. */
async function filesOf(font: CaptionStyle["font"], path: string, deps: FontDeps): Promise<Result<readonly FontFile[]>> {
  if (font === null) return ok([]);
  if ("name" in font) {
    const files = (await findFonts(deps.fontsFolder)).get(font.name);
    if (files) return ok(files);
    return err({ code: "encoder_not_available", message: `The encoder node has no font \`${font.name}\`.` });
  }
  const read = async (): Promise<FontFile[]> => {
    const file = await readFontFile(path);
    if (!file) throw new AppError("input_not_media", "The file is no font");
    return [{ ...file, path }];
  };
  return fetchExtra({ ...FONT, url: font.url, path }, read, deps);
}
