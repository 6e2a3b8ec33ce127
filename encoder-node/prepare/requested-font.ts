// Brings the font of an output into the folder of its task.
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { CaptionStyle } from "#shared/job/burn.ts";
import { err, ok, type Result } from "#shared/result.ts";
import {
  type FontFile,
  type Fonts,
  findFonts,
  MAX_FONT_BYTES,
  PACKAGED_FAMILY,
  readFontFile,
} from "../text/burn-in/node-fonts.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { fetchExtra } from "./extras/fetch-extra.ts";

export type FontDeps = Pick<TaskDeps, "allowPrivate" | "signal" | "fontsFolder">;

export type FontRequest = {
  /** `OutputSpec.index`. */
  readonly index: number;
  readonly font: CaptionStyle["font"];
  /** The workspace. */
  readonly folder: string;
  /** The folder of the fonts for libass. */
  readonly fontsFolder: string;
  readonly packaged: readonly FontFile[];
};

/** Copies the requested font into the folder of fonts. Rejects as `fetchExtra` does. */
export async function requestedFont(request: FontRequest, deps: FontDeps): Promise<Result<Fonts>> {
  const { index, font, folder, fontsFolder, packaged } = request;
  const files = await filesOf(font, join(folder, `font-${index}.bin`), deps);
  if (!files.ok) return files;
  const requested = files.value;
  for (const [at, { path }] of requested.entries()) await copyFile(path, join(fontsFolder, `${index}-${at}`));
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
async function filesOf(
  font: CaptionStyle["font"],
  path: string,
  { allowPrivate: allow, signal, fontsFolder }: FontDeps,
): Promise<Result<readonly FontFile[]>> {
  if (font === null) return ok([]);
  if ("name" in font) {
    const files = (await findFonts(fontsFolder)).get(font.name);
    if (files) return ok(files);
    return err({ code: "encoder_not_available", message: `The encoder node has no font \`${font.name}\`.` });
  }
  const fonts: FontFile[] = [];
  const check = async (): Promise<void> => {
    const read = await readFontFile(path);
    if (!read) throw new AppError("input_not_media", "The file is no font");
    fonts.push({ ...read, path });
  };
  const fetched = await fetchExtra({ ...FONT, url: font.url, path }, check, { allow, signal });
  return fetched.ok ? ok(fonts) : fetched;
}
