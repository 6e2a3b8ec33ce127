import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import {
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { folderUrl } from "#shared/job/folder-url.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { bytesContent, type Content } from "../upload/content.ts";
import { checkFolder, storeInFolder } from "../upload/store-in-folder.ts";
import { type NodeFolders, openFolders, parseFolderOption } from "./node-folders.ts";
import { inParent } from "./open-below.ts";
import { linkSource } from "./open-source.ts";
import { removeLeft } from "./temporary-files.ts";

const run = promisify(execFile);

const base = fileFolder();
let root: string;
let outside: string;
let workFolder: string;
let folders: NodeFolders;
const signal = new AbortController().signal;
const TEXT = Buffer.from("video");

beforeEach(async () => {
  const folder = await mkdtemp(join(base, "case-"));
  [root, outside, workFolder] = [join(folder, "media"), join(folder, "outside"), join(folder, "work")];
  for (const folder of [root, outside, workFolder, join(root, "in")]) await mkdir(folder);
  await writeFile(join(root, "in", "video #1.mov"), TEXT);
  await writeFile(join(outside, "secret"), "secret");
  folders = await openFolders(
    [
      { name: "media", path: root, isReadOnly: false },
      { name: "archive", path: outside, isReadOnly: true },
    ],
    workFolder,
  );
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
const listenAt = (path: string) => new Promise<void>((resolve) => servers.push(createServer().listen(path, resolve)));

const read = (path: string) => linkSource(folderUrl({ folder: "media", path }), { folders, workFolder, signal });
const store = (path: string, content: Content = bytesContent(TEXT), folder = "media") =>
  storeInFolder(folderUrl({ folder, path }), { content, folders, signal });

describe("a source in a folder", () => {
  it("is read in place, through a link without an extension, until it is released", async () => {
    const source = await read("in/video #1.mov");
    expect(source.path).toMatch(/\/input$/);
    expect(await readFile(source.path)).toEqual(TEXT);
    const { mtimeMs } = await stat(join(root, "in", "video #1.mov"));
    expect(source.origin).toEqual({
      from: "origin",
      sizeBytes: TEXT.length,
      validator: `modified ${Math.floor(mtimeMs / 1000)}`,
    });
    source.release();
    await expect.poll(() => readdir(workFolder)).toEqual([]);
  });

  const hostile: [string, (() => Promise<unknown>) | null, string][] = [
    ["in/missing.mov", null, "input_http_404"],
    ["in", null, "input_not_media"],
    ["in/video #1.mov/x", null, "input_http_403"],
    ["link", () => symlink(join(outside, "secret"), join(root, "link")), "input_http_403"],
    ["link/secret", () => symlink(outside, join(root, "link")), "input_http_403"],
    ["in/inside", () => symlink("video #1.mov", join(root, "in", "inside")), "input_http_403"],
    ["pipe", () => run("mkfifo", [join(root, "pipe")]), "input_not_media"],
    ["socket", () => listenAt(join(root, "socket")), "input_not_media"],
    ["in/a\nb", () => symlink("/etc/passwd", join(root, "in", "a\nb")), "input_http_403"],
    [`in/${"x".repeat(300)}`, null, "input_http_404"],
  ];
  it.each(hostile)("is rejected as %j", async (path, prepare, code) => {
    await prepare?.();
    await expect(read(path)).rejects.toMatchObject({ code });
    await expect.poll(() => readdir(workFolder)).toEqual([]);
  });

  it("may have control characters in its name, and no bytes", async () => {
    await writeFile(join(root, "in", "a\n\u001b[31m;'$(x)"), "");
    const source = await read("in/a\n\u001b[31m;'$(x)");
    expect(source.origin).toMatchObject({ sizeBytes: 0 });
    expect(await readFile(source.path, "utf8")).toBe("");
    source.release();
  });

  const urls = [
    "folder://media/../outside/secret",
    "folder://media/in/%2E%2E/%2E%2E/outside/secret",
    "folder://media/..%2Foutside%2Fsecret",
    "folder://media//etc/passwd",
    "folder://media/in%5Cvideo",
    "folder://media/in%00",
    "folder://media/",
    "folder://MEDIA/in",
    "folder://other/in",
  ];
  it.each(urls)("has no URL such as %s", async (url) => {
    const failure = { code: "node_failed" };
    await expect(linkSource(url, { folders, workFolder, signal })).rejects.toMatchObject(failure);
    await expect(storeInFolder(url, { content: bytesContent(TEXT), folders, signal })).rejects.toMatchObject(failure);
  });
});

describe("an output in a folder", () => {
  it("is stored in new folders, replaces a file, and leaves no other file", async () => {
    await store("out/a b/ü.mp4");
    await store("out/a b/ü.mp4", bytesContent(Buffer.from("second")));
    expect(await readFile(join(root, "out", "a b", "ü.mp4"), "utf8")).toBe("second");
    expect(await readdir(join(root, "out", "a b"))).toEqual(["ü.mp4"]);
  });

  it("replaces a link and a second name of a file, and leaves their files unchanged", async () => {
    await symlink(join(outside, "secret"), join(root, "link"));
    await link(join(outside, "secret"), join(root, "name"));
    for (const path of ["link", "name"]) {
      await store(path);
      expect(await readFile(join(root, path))).toEqual(TEXT);
    }
    expect(await readFile(join(outside, "secret"), "utf8")).toBe("secret");
  });

  const rejected: [string, () => Promise<unknown>, string, string][] = [
    ["link/a.mp4", () => symlink(outside, join(root, "link")), "storage_denied", "symbolic link"],
    ["in/video #1.mov/a.mp4", async () => undefined, "storage_denied", "symbolic link"],
    ["in", async () => undefined, "storage_denied", "a folder with the name"],
    [`${"x".repeat(300)}/a`, async () => undefined, "storage_denied", "name as long as"],
  ];
  it.each(rejected)("is rejected as %s", async (path, prepare, code, message) => {
    await prepare();
    await expect(store(path)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(await readdir(outside)).toEqual(["secret"]);
    expect((await readdir(root)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it.each([
    ["ENOSPC", "storage_denied", "The folder `media` is full; free some space and retry the job."],
    ["EROFS", "storage_denied", "The folder `media` is read-only."],
    ["EIO", "storage_unreachable", "The folder `media` cannot be written to (EIO); try again later."],
  ])("reports %s of its disk, and leaves no file", async (error, code, message) => {
    const content: Content = {
      sizeBytes: 8,
      async *read() {
        yield TEXT;
        throw Object.assign(new Error(error), { code: error });
      },
    };
    await expect(store("a.mp4", content)).rejects.toMatchObject({ code, message });
    expect(await readdir(root)).toEqual(["in"]);
  });

  it("is not stored in a read-only folder, and not after an abort", async () => {
    await expect(store("a.mp4", bytesContent(TEXT), "archive")).rejects.toMatchObject({ code: "node_failed" });
    const aborted = { content: bytesContent(TEXT), folders, signal: AbortSignal.abort(new Error("superseded")) };
    await expect(storeInFolder("folder://media/a.mp4", aborted)).rejects.toThrow("superseded");
    expect(await readdir(root)).toEqual(["in"]);
  });
});

describe("the check of a storage in a folder", () => {
  const check = (path: string, folder = "media") => checkFolder(folderUrl({ folder, path }), folders);

  it.each(["a.mp4", "new/b/a.mp4", "in/a.mp4", "in/video #1.mov"])("accepts %s, and changes nothing", async (path) => {
    await check(path);
    expect(await readdir(root, { recursive: true })).toEqual(["in", "in/video #1.mov"]);
    expect(await readdir(join(workFolder, "folder-files", "media"))).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ["in", async () => undefined, "a folder with the name"],
    ["in/video #1.mov/a", async () => undefined, "symbolic link"],
    ["link/a", () => symlink(outside, join(root, "link")), "symbolic link"],
    ["link/new/a", () => symlink(join(outside, "none"), join(root, "link")), "symbolic link"],
  ])("rejects %s", async (path, prepare, message) => {
    await prepare();
    await expect(check(path)).rejects.toMatchObject({
      code: "storage_denied",
      message: expect.stringContaining(message),
    });
    expect(await readdir(outside)).toEqual(["secret"]);
  });

  it("rejects a read-only folder, and a folder that is not mounted any more", async () => {
    await expect(check("a.mp4", "archive")).rejects.toMatchObject({ code: "node_failed" });
    const [media] = folders.values();
    if (media) folders = new Map([["media", { ...media, isMount: true }]]);
    await expect(check("a.mp4")).rejects.toMatchObject({ code: "storage_unreachable" });
  });

  // A file system with little space, which needs the rights to mount it.
  it.runIf(existsSync("/dev/full") && process.getuid?.() === 0)("rejects a full disk", async (context) => {
    await mkdir(join(root, "small"));
    const mounted = await run("mount", ["-t", "tmpfs", "-o", "size=64k", "copra", join(root, "small")]).catch(
      () => null,
    );
    if (!mounted) return context.skip();
    try {
      await expect(check("small/a.mp4")).rejects.toMatchObject({
        code: "storage_denied",
        message: expect.stringContaining("is full"),
      });
      expect(await readdir(join(root, "small"))).toEqual([]);
    } finally {
      await run("umount", [join(root, "small")]);
    }
  });
});

describe("temporary files of a killed node", () => {
  const NAME = ".copra-00000000-0000-4000-8000-000000000000.tmp";
  const leave = async (path: string): Promise<void> => {
    const notes = join(workFolder, "folder-files", "media");
    await mkdir(notes, { recursive: true });
    await writeFile(join(notes, NAME), `${path}${NAME}`);
    await writeFile(join(root, path, NAME), "half");
  };
  const media = () => folders.get("media") ?? expect.unreachable();

  it("are removed when the node starts again", async () => {
    await leave("in/");
    await removeLeft(media());
    expect(await readdir(join(root, "in"))).toEqual(["video #1.mov"]);
    expect(await readdir(media().notes)).toEqual([]);
  });

  it("are left while the folder is not mounted", async () => {
    await leave("in/");
    await removeLeft({ ...media(), isMount: true });
    expect(await readdir(media().notes)).toEqual([NAME]);
    await removeLeft(media());
    expect(await readdir(join(root, "in"))).toEqual(["video #1.mov"]);
  });

  it("are not removed outside of the folder, after a link has replaced their folder", async () => {
    await leave("in/");
    await writeFile(join(outside, NAME), "of others");
    await rename(join(root, "in"), join(root, "moved"));
    await symlink(outside, join(root, "in"));
    await removeLeft(media());
    expect((await readdir(outside)).toSorted()).toEqual([NAME, "secret"]);
  });

  it("are removed after an hour by any node that stores a file beside them, and other files are not", async () => {
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
    const others = [".copra-x.tmp", "mine.tmp", NAME.replace("0", "f")];
    for (const name of [NAME, ...others]) await writeFile(join(root, name), "half");
    for (const name of [NAME, ...others.slice(0, 2)]) await utimes(join(root, name), hours(2), hours(2));
    await store("a.mp4");
    expect((await readdir(root)).toSorted()).toEqual([...others, "a.mp4", "in"].toSorted());
  });
});

it.runIf(process.platform === "linux")("a folder replaced by a link while it is open leads nowhere else", async () => {
  const [media] = folders.values();
  if (!media) throw new Error("no folder");
  const text = await inParent(media, "in/video #1.mov", "required", async ({ path: parent }, name) => {
    await rename(join(root, "in"), join(root, "moved"));
    await symlink(outside, join(root, "in"));
    const file = await open(join(parent, name), constants.O_RDONLY);
    const text = await file.readFile("utf8");
    await file.close();
    return text;
  });
  expect(text).toBe("video");
  await expect(read("in/secret")).rejects.toMatchObject({ code: "input_http_403" });
});

it("a folder whose file system is not mounted any more is not used", async () => {
  const [media] = folders.values();
  if (!media) throw new Error("no folder");
  folders = new Map([["media", { ...media, isMount: true }]]);
  await expect(read("in/video #1.mov")).rejects.toMatchObject({ code: "input_unreachable" });
  await expect(store("a.mp4")).rejects.toMatchObject({
    code: "storage_unreachable",
    message: expect.stringContaining("is not mounted on the node"),
  });
});

describe("the option --folder", () => {
  it.each([
    ["media=/mnt/nas", { name: "media", path: "/mnt/nas", isReadOnly: false }],
    ["a-1=/mnt/a=b:ro", { name: "a-1", path: "/mnt/a=b", isReadOnly: true }],
    ["media=/mnt/nas:rw", { name: "media", path: "/mnt/nas", isReadOnly: false }],
    ["media=nas", null],
    ["/mnt/nas", null],
    ["Media=/mnt/nas", null],
    ["=/mnt/nas", null],
  ])("parses %s", (text, option) => expect(parseFolderOption(text)).toEqual(option));

  it.each<[string, () => string, string]>([
    ["does not exist", () => join(root, "none"), "ENOENT"],
    ["is a file", () => join(root, "in", "video #1.mov"), "it is not a folder"],
    ["contains the work folder", () => join(workFolder, ".."), "it contains the work folder"],
    ["is the root of the machine", () => "/", "it contains the work folder"],
  ])("rejects a path that %s", async (_, path, message) => {
    const options = [{ name: "media", path: path(), isReadOnly: true }];
    await expect(openFolders(options, workFolder)).rejects.toThrow(message);
  });
});
