// The service with folders on its nodes, as an operator of a NAS starts it: sources and outputs are files.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../local/home/constants.ts";
import { basicAuth } from "../local/stack/access.ts";
import { fileFolder } from "./fixtures.ts";
import { lookAtFile } from "./look.ts";
import { makeClip, makeLongClip } from "./media.ts";
import { copra, type Served, serve } from "./self-host/served.ts";

const base = fileFolder();
let media: string;
let served: Served;
const NOBODY = { type: "none" };
const at = (...names: string[]): string => join(media, ...names);
const source = (path: string) => ({ service: "folder", folder: "media", path });

beforeAll(async () => {
  media = join(base, "media");
  for (const folder of ["media", "media/in", "archive"]) mkdirSync(join(base, folder));
  const folders = ["--folder", `media=${media}`, "--folder", `archive=${join(base, "archive")}:ro`];
  const ports = ["--port", "0", "--s3-port", "0", "--nodes", "2", "--allow-private", "loopback"];
  const env = { FOLDERS: "media:*,archive:*,elsewhere:*,private:another-account" };
  served = await serve({ home: join(base, "home"), argv: [...ports, ...folders], env });
  renameSync(await makeClip("ntsc.mp4", base), at("in", "video.mov"));
  renameSync(await makeLongClip(base, 130, "320x180"), at("in", "long ü.mp4"));
});
afterAll(async () => {
  await served?.stop();
});

/** The request in docs/folders.md, with the paths of this test. */
const documented = (): object => {
  const page = readFileSync(join(ROOT, "docs", "folders.md"), "utf8");
  return JSON.parse(/```json\n(.*?)```/s.exec(page)?.[1] ?? "");
};

it("the documented job reads a file in place, and stores files, streams and images in the folder", async () => {
  const before = statSync(at("in", "video.mov"), { bigint: true });
  const { id } = await served.submit(documented());
  const job = await served.ended(id);
  expect(job.status).toBe("job.completed");
  expect(await call("GET", `/jobs/${id}`)).toMatchObject({ input: { source: "folder://media/in/video.mov" } });
  expect(job.outputs[0]?.url).toBe("folder://media/out/video/240p.mp4");
  expect((await lookAtFile(at("out", "video", "240p.mp4"))).video?.height).toBe(240);
  const [playlist] = job.outputs[2]?.urls ?? [];
  expect(playlist).toMatchObject({ url: "folder://media/out/video/hls/master.m3u8" });
  const hls = (...names: string[]): string => at("out", "video", "hls", ...names);
  const filesOf = (name: string): string[] =>
    (readFileSync(hls(name), "utf8").match(/^[^#].*$/gm) ?? []).map((file) => join(dirname(name), file));
  const named = filesOf("master.m3u8");
  const segments = named.flatMap(filesOf);
  expect(segments).not.toEqual([]);
  expect(segments.filter((name) => !existsSync(hls(name)))).toEqual([]);
  expect(readdirSync(at("out", "video", "thumbs")).toSorted()).toEqual(["01.jpg", "02.jpg"]);
  const after = statSync(at("in", "video.mov"), { bigint: true });
  expect([after.ino, after.mtimeNs, after.mode]).toEqual([before.ino, before.mtimeNs, before.mode]);
  const temporary = readdirSync(media, { recursive: true }).filter((name) => String(name).endsWith(".tmp"));
  expect(temporary).toEqual([]);
});

it("growing playlists, sprite sheets and subtitles are files of the folder", async () => {
  const outputs = {
    "jpg:160x": { path: "%02d.jpg", number: 3, sprite: true, vtt: true },
    httpstream: { dash: { path: "dash" }, hls: { path: "hls" }, variants: ["mp4:240p"], live_playlist: true },
  };
  const request = { input: source("in/video.mov"), storage: source("live"), outputs, notification: NOBODY };
  expect((await served.ended((await served.submit(request)).id)).status).toBe("job.completed");
  expect(readdirSync(at("live")).toSorted()).toEqual(["01.jpg", "dash", "hls", "images.vtt"]);
  expect(readFileSync(at("live", "dash", "master.mpd"), "utf8")).toContain("<MPD");
});

it("two nodes with the folder encode a video in chunks, without a copy of the source", async () => {
  const request = {
    input: source("in/long ü.mp4"),
    storage: { service: "folder", folder: "media", path: "out" },
    outputs: { "mp4:240p": { path: "ultrafast.mp4" } },
    settings: { ultrafast: true },
    notification: NOBODY,
  };
  const { id, status } = await served.ended((await served.submit(request)).id);
  expect(status).toBe("job.completed");
  expect(await call("GET", `/jobs/${id}`)).not.toHaveProperty("ultrafast.reason");
  expect((await lookAtFile(at("out", "ultrafast.mp4"))).frames).toBe(3900);
});

it("a folder that no node has, or can write to, is named while a job waits", async () => {
  const outputs = { "mp4:240p": { path: "a.mp4" } };
  const storage = { service: "folder", folder: "archive" };
  const elsewhere = { service: "folder", folder: "elsewhere", path: "a.mov" };
  const jobs = [
    { request: { input: elsewhere, storage: source("out") }, waiting: "folder elsewhere" },
    { request: { input: source("in/video.mov"), storage }, waiting: "writable folder archive" },
  ];
  for (const { request, waiting } of jobs) {
    const { id } = await served.submit({ ...request, outputs, notification: NOBODY });
    const waits = { waiting_for: expect.stringContaining(waiting) };
    await expect.poll(() => call("GET", `/jobs/${id}`)).toMatchObject(waits);
    await call("POST", `/jobs/${id}/cancel`);
  }
  expect(existsSync(join(base, "archive", "a.mp4"))).toBe(false);
});

it("a missing file fails the input, and an account gets no folder of another account", async () => {
  const outputs = { "mp4:240p": { path: "a.mp4" } };
  const storage = source("out");
  const request = { input: source("in/none.mov"), storage, outputs, notification: NOBODY };
  const job = await served.ended((await served.submit(request)).id);
  expect(job).toMatchObject({ status: "job.failed", input: { error_code: "input_http_404" } });
  for (const folder of ["private", "unknown"]) {
    const other = { service: "folder", folder, path: "a.mov" };
    const names = "the folders of the account are media, archive, elsewhere";
    expect(await call("POST", "/jobs?dry_run=true", { ...request, input: other })).toMatchObject({
      error_code: "input_not_valid",
      message: `\`input.folder\` \`${folder}\` is not available: ${names}`,
    });
    expect(await call("POST", "/jobs", { ...request, storage: other })).toMatchObject({
      error_code: "storage_not_valid",
    });
  }
});

it("a source in a folder can be probed, and is no media if it has no bytes", async () => {
  const probeOf = async (path: string): Promise<unknown> => {
    const { id } = (await call("POST", "/probes", { input: source(path) })) as { id: string };
    const isRunning = async () => (await call("GET", `/probes/${id}?wait=30`)) as { completed_at: string | null };
    await expect.poll(isRunning).toMatchObject({ completed_at: expect.any(String) });
    return isRunning();
  };
  expect(await probeOf("in/video.mov")).toMatchObject({ status: "completed", source: "folder://media/in/video.mov" });
  writeFileSync(at("in", "empty.mov"), "");
  expect(await probeOf("in/empty.mov")).toMatchObject({ status: "failed", error_code: "input_not_media" });
});

it("a storage that cannot take the first output fails the outputs before the encode", async () => {
  mkdirSync(at("taken", "a.mp4"), { recursive: true });
  const outputs = { "mp4:240p": { path: "a.mp4" } };
  const request = { input: source("in/video.mov"), storage: source("taken"), outputs, notification: NOBODY };
  const job = await served.ended((await served.submit(request)).id);
  expect(job).toMatchObject({ status: "job.failed", outputs: [{ error_code: "storage_denied" }] });
  expect(readdirSync(at("taken"))).toEqual(["a.mp4"]);
});

it("copra probes, reads and stores files of a folder", async () => {
  const service = ["--url", new URL(served.stack.api).origin, "--key", served.stack.apiKey];
  expect(await copra("probe", "folder:media/in/video.mov", ...service)).toContain("h264");
  const job = ["encode", "folder:media/in/video.mov", "--to", "mp4:240p", "--storage", "folder:media/cli"];
  expect(await copra(...job, ...service, "--json")).toContain("folder://media/cli/video-240p.mp4");
  expect(existsSync(at("cli", "video-240p.mp4"))).toBe(true);
  await expect(copra(...job, ...service, "-o", join(base, "results"))).rejects.toMatchObject({
    stderr: expect.stringContaining("The outputs are in a folder of the nodes: folder://media/cli/video-240p.mp4"),
  });
});

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const { api, apiKey } = served.stack;
  const headers = { authorization: basicAuth(apiKey) };
  const response = await fetch(`${api}${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
  return response.json();
}
