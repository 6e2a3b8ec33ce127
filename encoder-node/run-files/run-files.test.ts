// Tests which files of a program in place of ffmpeg the node takes over.
import { execFile } from "node:child_process";
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { createFile, makeReadable, openFile, readText } from "./open-file.ts";
import { removeTree } from "./remove-tree.ts";
import { RunFiles } from "./run-files.ts";

const folder = fileFolder();
let outside: string;
let files: RunFiles;
beforeAll(async () => {
  outside = join(folder, "outside");
  await mkdir(outside);
});
beforeEach(async () => {
  await writeFile(join(outside, "secret"), "secret");
  await chmod(join(outside, "secret"), 0o600);
  files = await RunFiles.create(folder);
});

const run = promisify(execFile);
const pipe = (path: string) => run("mkfifo", [path]);
const secret = () => join(outside, "secret");

/** Things other than files that a run may leave under the name of an output. */
const TRAPS: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  "a link to a file": (path) => symlink(secret(), path),
  "a link to a folder": (path) => symlink(outside, path),
  "a link to nothing": (path) => symlink(join(folder, "nothing"), path),
  "a pipe": pipe,
  "a second name of a file outside": (path) => link(secret(), path),
  "a folder with files": async (path) => {
    await mkdir(join(path, "a"), { recursive: true });
    await writeFile(join(path, "a", "b"), "x");
    await symlink(outside, join(path, "a", "c"));
  },
};

it.each(Object.entries(TRAPS))("takes over only files: not %s, at the end of a run or before", async (_what, make) => {
  await files.inRun(async (cwd) => {
    await make(join(cwd, "early.mp4"));
    expect(await files.take("early.mp4")).toBeNull();
    await make(join(cwd, "late.mp4"));
    await writeFile(join(cwd, "good.mp4"), "good");
  });
  expect(await readdir(files.folder)).toEqual(["good.mp4"]);
  expect(await readFile(secret(), "utf8")).toBe("secret");
  expect((await stat(secret())).mode & 0o777).toBe(0o600);
  expect(await readdir(outside)).toEqual(["secret"]);
});

it.each(Object.entries(TRAPS))("opens no %s, and waits for none", async (_what, make) => {
  const path = files.pathOf("trap");
  await make(path);
  await expect(openFile(path)).rejects.toThrow();
  await expect(readText(path, 100)).rejects.toThrow();
  await makeReadable(path).catch(() => undefined);
  expect((await stat(secret())).mode & 0o777).toBe(0o600);
});

it("lets ffmpeg continue to write a file that was taken, and ignores its replacement by the run", async () => {
  await files.inRun(async (cwd) => {
    const file = await open(join(cwd, "track.mp4"), "w");
    await file.write("one ");
    const path = await files.take("track.mp4");
    expect(path).toBe(files.pathOf("track.mp4"));
    await file.write("two");
    await file.close();
    await symlink(secret(), join(cwd, "track.mp4"));
    expect(await readFile(path ?? "", "utf8")).toBe("one two");
  });
  expect(await readText(files.pathOf("track.mp4"), 100)).toBe("one two");
});

it("reads a playlist that is replaced while the run writes it, and after the run", async () => {
  expect(await files.read("a.m3u8", 100)).toBeNull();
  await files.inRun(async (cwd) => {
    for (const text of ["one", "two"]) {
      await writeFile(join(cwd, "a.tmp"), text);
      await rename(join(cwd, "a.tmp"), join(cwd, "a.m3u8"));
      expect(await files.read("a.m3u8", 100)).toBe(text);
    }
    await expect(files.read("a.m3u8", 2)).rejects.toThrow(/more than 2 bytes/);
    await pipe(join(cwd, "b.m3u8"));
    await expect(files.read("b.m3u8", 100)).rejects.toThrow();
  });
  expect(await files.read("a.m3u8", 100)).toBe("two");
});

it("replaces no file of the node, and takes over nothing when a run fails", async () => {
  await appendFile(files.pathOf("joined.mp4"), "of the node");
  await files.inRun((cwd) => writeFile(join(cwd, "joined.mp4"), "of the run"));
  expect(await readFile(files.pathOf("joined.mp4"), "utf8")).toBe("of the node");
  const failed = files.inRun(
    (cwd) => writeFile(join(cwd, "output.mp4"), ""),
    () => false,
  );
  await failed;
  await expect(files.inRun(() => Promise.reject(new Error("stopped")))).rejects.toThrow("stopped");
  expect(await readdir(files.folder)).toEqual(["joined.mp4"]);
});

it("replaces a link with a new file, and does not write through the link", async () => {
  const path = files.pathOf("0.vtt");
  await symlink(secret(), path);
  const file = await createFile(path);
  await file.writeFile("WEBVTT");
  await file.close();
  expect((await lstat(path)).isFile()).toBe(true);
  expect(await readFile(secret(), "utf8")).toBe("secret");
});

it.skipIf(process.platform !== "linux")(
  "removes folders of any depth and mode, and files whose names are not text",
  async () => {
    const tree = join(folder, "tree");
    const script = `
    mkdir "$1" && cd "$1" && ln -s "$2" link && mkfifo pipe && mkdir -p closed/inner && : > closed/inner/file
    chmod 000 closed/inner closed
    perl -e 'mkdir "\\xff\\xfe"; open F, ">", "\\xff\\xfe/\\xff"; my $d = "d" x 200; for (1..40) { mkdir $d; chdir $d }'
    chmod 000 .`;
    await run("sh", ["-c", script, "sh", tree, outside]);
    await removeTree(tree);
    expect((await readdir(folder)).filter((name) => /^tree|^removed/.test(name))).toEqual([]);
    expect(await readdir(outside)).toEqual(["secret"]);
  },
);
