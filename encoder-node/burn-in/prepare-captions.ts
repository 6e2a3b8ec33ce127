// Fetches the captions and fonts that outputs burn in, and writes the scripts for libass.
import { copyFile, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { BurnSpec } from "#shared/job/burn.ts";
import { burnOf, type OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type Channels, chooseBurnt } from "#shared/plan/text/choose-texts.ts";
import { type TextTrack, textTracks } from "#shared/plan/text/text-tracks.ts";
import { err, ok, type Result } from "#shared/result.ts";
import { withoutScc } from "../closed-captions/scc.ts";
import { readBytes } from "../run-files/open-file.ts";
import { fetchExtra } from "../source/extras/fetch-extra.ts";
import { decodedText } from "../source/extras/subtitle-text.ts";
import type { AssScript } from "./ass-script.ts";
import { captionScript } from "./caption-script.ts";
import { scriptOf } from "./caption-text.ts";
import { checkLetters } from "./missing-letters.ts";
import { packagedFonts } from "./node-fonts.ts";
import { type FontDeps, type Fonts, requestedFont } from "./requested-font.ts";
import type { Burns, TrackBitmaps } from "./run-files.ts";

/** Hours of speech are a few hundred kilobytes; ASS with effects has megabytes. */
const MAX_CAPTION_BYTES = 10e6;
const MAX_TRACK_BYTES = 40e6;

export type CaptionsWork = {
  readonly outputs: readonly OutputSpec[];
  readonly probe: MediaProbe;
  /** The workspace. */
  readonly folder: string;
  readonly channels?: Channels;
  /**
   * Reads a track: a file of text, ASS as it is and other text as WebVTT, or images. Returns null for a track without
   * images.
   */
  readonly readTrack: (track: TextTrack) => Promise<string | TrackBitmaps | null>;
};

/** `burns` is absent if no output has captions. `failed`: the outputs whose files cannot be used. */
export type PreparedCaptions = {
  readonly burns?: Burns;
  readonly failed: { readonly output: number; readonly failure: Failure }[];
};

/** Fetches the files into a new folder in the workspace. Rejects as `fetchExtra` does. */
export async function prepareCaptions(work: CaptionsWork, deps: FontDeps): Promise<PreparedCaptions> {
  const failed: PreparedCaptions["failed"] = [];
  const burning = work.outputs.flatMap((spec) => {
    const burn = burnOf(spec);
    return burn ? [{ index: spec.index, burn }] : [];
  });
  if (burning.length === 0) return { failed };
  const fontsFolder = join(work.folder, "fonts");
  await mkdir(fontsFolder);
  const packaged = await packagedFonts();
  for (const { path } of packaged) await copyFile(path, join(fontsFolder, basename(path)));
  const scripts = new Map<number, AssScript>();
  const bitmaps = new Map<number, TrackBitmaps>();
  for (const { index, burn } of burning) {
    const { font } = burn.style;
    const fonts = await requestedFont({ index, font, folder: work.folder, fontsFolder, packaged }, deps);
    const made = fonts.ok ? await captionsFor({ index, burn, fonts: fonts.value }, work, deps) : fonts;
    if (!made.ok) failed.push({ output: index, failure: made.error });
    else if ("path" in made.value) bitmaps.set(index, made.value);
    else scripts.set(index, made.value);
  }
  return { burns: { scripts, bitmaps, fontsFolder }, failed };
}

type Wanted = {
  readonly index: number;
  readonly burn: BurnSpec;
  readonly fonts: Fonts;
};

type Captions = Result<AssScript | TrackBitmaps>;

async function captionsFor(wanted: Wanted, work: CaptionsWork, deps: FontDeps): Promise<Captions> {
  const { index, burn } = wanted;
  if (burn.url === undefined) return captionsOfTrack(wanted, work);
  const path = join(work.folder, `captions-${index}.bin`);
  const { allowPrivate: allow, signal } = deps;
  const found: AssScript[] = [];
  const check = async (): Promise<void> => {
    const text = await withoutScc(decodedText(await readBytes(path, MAX_CAPTION_BYTES)), signal);
    found.push(await checkedScript(text, wanted));
  };
  const fetched = await fetchExtra({ ...CAPTIONS, url: burn.url, path }, check, { allow, signal });
  if (!fetched.ok) return fetched;
  const [script] = found;
  if (!script) throw new Error("Captions were fetched and not read");
  return ok(script);
}

/** The captions of a track of the input: an empty script if the input lacks an optional track. */
async function captionsOfTrack(wanted: Wanted, { probe, readTrack, channels }: CaptionsWork): Promise<Captions> {
  const { burn, fonts } = wanted;
  const chosen = chooseBurnt(burn, textTracks(probe), channels);
  if (!chosen.ok) return chosen;
  const [text] = chosen.value.texts;
  const empty = captionScript([], burn.style, fonts.chosen, false);
  if (!text || !("track" in text.source)) return ok(empty);
  const { track } = text.source;
  try {
    const read = await readTrack(track);
    if (typeof read !== "string") return ok(read ?? empty);
    const content = decodedText(await readBytes(read, MAX_TRACK_BYTES));
    return ok(await checkedScript(content, wanted, track.codec !== "webvtt"));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = failureOf(error);
    return err({
      code,
      message: code === "subtitle_failed" ? `The captions of the input cannot be used: ${message}.` : message,
    });
  }
}

/** Throws AppError `subtitle_failed` if the text is not usable, or has letters that no font has. */
async function checkedScript(text: string, { burn, fonts }: Wanted, isConverted = false): Promise<AssScript> {
  const script = scriptOf(text, burn, fonts, isConverted);
  await checkLetters(script, fonts.known);
  return script;
}

const CAPTIONS = {
  code: "subtitle_failed",
  maxBytes: MAX_CAPTION_BYTES,
  subject: "The file of `burn`",
  expected: "a file of captions",
} as const;
