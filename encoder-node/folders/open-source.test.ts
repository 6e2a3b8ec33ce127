import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { emptiedFolder } from "../../test/fixtures.ts";
import { readIsoFileType } from "../source/probe/iso-file-type.ts";
import { explainNotMedia } from "../source/probe/not-media.ts";
import { openFolders } from "./node-folders.ts";
import { type LinkedSource, linkSource, readStart } from "./open-source.ts";

const base = emptiedFolder();
let source: LinkedSource;
const at = (...names: string[]): string => join(base, ...names);

beforeEach(async () => {
  for (const name of ["media", "work"]) await mkdir(at(name));
  await writeFile(at("media", "a.mov"), "video");
  const folders = await openFolders([{ name: "media", path: at("media"), isReadOnly: true }], at("work"));
  const { signal } = new AbortController();
  source = await linkSource("folder://media/a.mov", { folders, workFolder: at("work"), signal });
});
afterEach(async () => {
  source.release();
});

it("reads a source in a folder of the operator", async () => {
  expect((await readStart(source.path, 3)).toString()).toBe("vid");
  expect(await readIsoFileType(source.path)).toEqual({ brand: null, encrypted: new Set() });
});

// Opening a pipe for reading waits for a writer, in a thread of the process that nothing can end.
it.each<[string, (path: string) => unknown]>([
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["another file", (path) => writeFile(path, "<html>secret</html>")],
  ["a link to another file", (path) => symlink("/etc/passwd", path)],
  ["a folder", (path) => mkdir(path)],
])("does not read %s that has replaced the source", async (_, replace) => {
  execFileSync("mv", [at("media", "a.mov"), at("media", "moved")]);
  await replace(at("media", "a.mov"));
  const failure = { code: "input_unreachable", message: expect.stringContaining("was replaced") };
  await expect(readIsoFileType(source.path)).rejects.toMatchObject(failure);
  await expect(readStart(source.path, 3)).rejects.toMatchObject(failure);
  const error = new AppError("input_not_media", "no media");
  expect(await explainNotMedia(error, source.path)).toBe(error);
});

it("follows no link that is not the node's own", async () => {
  await symlink(at("media", "a.mov"), at("work", "link"));
  await expect(readStart(at("work", "link"), 3)).rejects.toThrow("ELOOP");
});
