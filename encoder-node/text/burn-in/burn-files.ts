// The files of captions in the folder of a run: images, and for libass scripts, fonts and the settings of fontconfig.
import { chmod, copyFile, mkdir, readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { BurnBitmaps } from "#shared/job/burn.ts";
import { drawsTimecode } from "#shared/plan/command/filter-text.ts";
import { bitmapFile, burnFilesIn, FONTS_FOLDER } from "#shared/plan/filters/burn-in.ts";
import { textFilesIn } from "#shared/plan/filters/overlays/text-files.ts";
import { writeText } from "../../run-files/open-file.ts";
import { type AssScript, assText, toHundredths } from "../ass/ass-script.ts";
import { shiftEvents } from "../ass/separate-events.ts";

const READABLE = 0o644;
const FOLDER = 0o755;
/** tool-environment.ts names it. */
const FONTS_CONFIG = "fonts.conf";

/** Captions that are images, in a file of video with alpha. */
export type TrackBitmaps = BurnBitmaps & { readonly path: string };

/** Captions and fonts of the outputs of a task. */
export type Burns = {
  /** By output, with the times of the source. */
  readonly scripts: ReadonlyMap<number, AssScript>;
  /** By output. */
  readonly bitmaps: ReadonlyMap<number, TrackBitmaps>;
  /** Texts of overlays, by output and position. The files of a run have their times. */
  readonly texts: ReadonlyMap<string, AssScript>;
  /** A folder of only font files. */
  readonly fontsFolder: string;
};

/**
 * Writes the captions and texts that the arguments name, and all fonts, into the folder of a run that has not started.
 * An earlier run may have left anything under these names, so they are removed first. fontconfig finds only these fonts:
 * fonts of the machine would make chunks of different nodes different.
 */
export async function placeBurnFiles(argv: readonly string[], burns: Burns, cwd: string): Promise<void> {
  for (const [output, { path }] of burns.bitmaps) {
    const name = bitmapFile(output);
    if (argv.some((argument) => argument.includes(name))) await placeFile(path, join(cwd, name));
  }
  const files = burnFilesIn(argv);
  const texts = textFilesIn(argv);
  if (files.length === 0 && texts.length === 0 && !argv.some(drawsTimecode)) return;
  const fonts = join(cwd, FONTS_FOLDER);
  await rm(fonts, { recursive: true, force: true });
  await mkdir(fonts, { mode: FOLDER });
  for (const name of await readdir(burns.fontsFolder)) {
    await placeFile(join(burns.fontsFolder, name), join(fonts, name));
  }
  for (const { name, output, fromMs, transfer } of files) {
    const script = burns.scripts.get(output);
    if (!script) throw new Error("A run draws captions that were not fetched");
    const events = shiftEvents(script.events, toHundredths(-fromMs));
    await writeText(join(cwd, name), assText({ ...script, events }, transfer), READABLE);
  }
  for (const { name, key, startMs, endMs, transfer } of texts) {
    const script = burns.texts.get(key);
    if (!script) throw new Error("A run draws a text that was not prepared");
    const events = script.events.map((event) => ({ ...event, startMs, endMs }));
    await writeText(join(cwd, name), assText({ ...script, events }, transfer), READABLE);
  }
  await writeText(join(cwd, FONTS_CONFIG), fontsConfig(cwd), READABLE);
}

async function placeFile(from: string, to: string): Promise<void> {
  await rm(to, { force: true });
  await copyFile(from, to);
  await chmod(to, READABLE);
}

/** Paths in the file are absolute: fontconfig does not read relative ones in all versions. */
const fontsConfig = (cwd: string): string =>
  [
    '<?xml version="1.0"?>',
    '<!DOCTYPE fontconfig SYSTEM "fonts.dtd">',
    `<fontconfig><dir>${escaped(resolve(cwd, FONTS_FOLDER))}</dir>`,
    `<cachedir>${escaped(resolve(cwd, "fonts-cache"))}</cachedir></fontconfig>`,
    "",
  ].join("\n");

const escaped = (path: string): string => path.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`);
