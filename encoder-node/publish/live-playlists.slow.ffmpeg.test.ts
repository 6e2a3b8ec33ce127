// Streams that are published while ffmpeg encodes them, and the files that players can find at any time.
import { writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { ffmpeg, planStream, tools } from "../testing/jobs/stream-encode.ts";
import { type Respond, startTestStorage, type TestStorage } from "../testing/jobs/stream-storage.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openPublication } from "./publication.ts";

const storages = storageAgent("loopback");
const folder = fileFolder();
beforeAll(async () => {
  const source = "-f lavfi -i testsrc2=s=160x90:r=25:d=14 -f lavfi -i sine=d=14";
  expect(await ffmpeg(folder, `${source} -c:v libx264 -preset ultrafast -c:a aac clip.mp4`)).toEqual({ ok: true });
  await writeFile(join(folder, "hello.vtt"), "WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n");
});
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  await storages.destroy();
});

const HLS = { hls: { path: "a" } };
const DASH = { dash: { path: "b", hlsfmp4: true } };
const SUBTITLES = [{ language: "en", name: "English", default: true }];

type Terms = { readonly speed?: number; readonly respond?: Respond; readonly subtitles?: boolean };

const SHORT = { segment_duration: 2 };

/** Publishes a stream at `speed` times its own speed. */
async function publish(params: object, { speed = 4, respond, subtitles = false }: Terms = {}) {
  const store = await startTestStorage(respond);
  ends.push(store.close);
  const planned = await planStream(join(folder, "clip.mp4"), { variants: ["mp4:160x90"], ...SHORT, ...params });
  const files = await RunFiles.create(folder);
  const seconds: number[] = [];
  const abort = new AbortController();
  const publication = openPublication(
    {
      ...planned,
      files,
      folder: "run",
      subtitles: subtitles ? SUBTITLES.map((each) => ({ ...each, path: join(folder, "hello.vtt") })) : [],
    },
    {
      requestUploads: store.requestUploads,
      storages,
      log: silentLog,
      ffprobe: tools.ffprobe,
      signal: abort.signal,
      playable: (stream) => void seconds.push(stream.seconds),
    },
  );
  ends.push(publication.stop);
  const argv = planned.argv.toSpliced(planned.argv.indexOf("-i"), 0, "-readrate", String(speed));
  const command = { path: tools.ffmpeg.path, argv, reads: [join(folder, "clip.mp4")], stallMs: 60_000 };
  const encode = (signal?: AbortSignal) => files.inRun((cwd) => runCommand({ ...command, cwd, signal }));
  const finish = async (): Promise<void> => {
    expect(await encode()).toEqual({ ok: true });
    // A busy machine may have published nothing yet.
    while (planned.spec.livePlaylist && seconds.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    await publication.check();
    expect(await publication.finish(() => undefined)).toHaveProperty("value.files");
  };
  return { store, publication, seconds, abort, finish, encode: () => encode(abort.signal) };
}

type Stored = TestStorage["stored"][number];
const isList = ({ name }: Pick<Stored, "name">): boolean => /\.(m3u8|mpd)$/.test(name);
const linesOf = ({ body }: Stored): string[] => String(body).split("\n");

/** The names of the files that a playlist or a manifest names. */
function namesIn(list: Stored): string[] {
  const text = String(list.body);
  if (!list.name.endsWith(".mpd")) {
    const files = linesOf(list)
      .flatMap((line) => /^(?!#).+|(?<=URI=")[^"]+/.exec(line)?.[0] ?? [])
      .filter((file) => file !== "key.bin");
    return files.map((file) => posix.join(posix.dirname(list.name), file));
  }
  const ids = [...text.matchAll(/<Representation id="([^"]+)"(?! bandwidth="\d+">\s*<BaseURL)/g)].map(([, id]) => id);
  // An `S` element for each run of equal segments. The tracks of a set have the same timeline.
  const counts = [...text.matchAll(/<SegmentTimeline>(.*?)<\/SegmentTimeline>/gs)].map(([, lines = ""]) =>
    [...lines.matchAll(/<S [^>]*?(?:r="(\d+)")?\/>/g)].reduce((sum, [, more = "0"]) => sum + 1 + Number(more), 0),
  );
  return ids.flatMap((id, at) => [
    `dash/run/${id}/init.mp4`,
    ...Array.from(
      { length: counts[Math.min(at, counts.length - 1)] ?? 0 },
      (_, number) => `dash/run/${id}/${String(number + 1).padStart(5, "0")}.m4s`,
    ),
  ]);
}

// The tests run side by side: they wait for ffmpeg, whose speed they limit.
it.concurrent.each<[string, object, Terms]>([
  ["HLS and DASH", { ...HLS, ...DASH }, { subtitles: true }],
  ["HLS version 3", { hls: { path: "a", version: 3 }, thumbnails: true }, {}],
  ["encrypted HLS", { ...HLS, encryption: { key: "00".repeat(16), key_uri: "key.bin" } }, {}],
  ["HLS with fragmented MP4", { ...HLS, variants: ["mp4:hevc_64x36", "mp4:x"] }, {}],
  ["audio alone", { ...HLS, ...DASH, variants: ["mp4:x:64k", "mp4:x:128k"] }, {}],
])("%s: growing playlists name only stored files, and end like complete playlists", async (_, params, terms) => {
  const live = await publish({ ...params, live_playlist: true }, terms);
  const plain = await publish(params, { ...terms, speed: 20 });
  await Promise.all([live.finish(), plain.finish()]);

  const known = new Set<string>();
  for (const each of live.store.stored) {
    if (isList(each)) for (const name of namesIn(each)) expect([each.name, known.has(name), name]).toContain(true);
    known.add(each.name);
  }
  const versions = Map.groupBy(live.store.stored.filter(isList), ({ name }) => name);
  for (const [name, all] of versions) {
    const growing = all.slice(0, -1);
    if (/keyframes|subtitles/.test(name)) continue;
    expect(live.store.growing).toContain(name);
    for (const list of growing) {
      if (name.endsWith(".mpd")) expect(String(list.body)).toMatch(/type="dynamic" availabilityStartTime="20/);
      else expect(linesOf(list)).toContain("#EXT-X-START:TIME-OFFSET=0");
      expect(String(list.body)).not.toContain("#EXT-X-ENDLIST");
    }
    const isEntry = name.endsWith("master.m3u8");
    if (isEntry) expect(growing).toHaveLength(1);
    // A playlist every two seconds.
    else expect([1, 2, 3, 4]).toContain(growing.length);
    // Lists only grow: entries of earlier segments stay.
    for (const [at, list] of growing.entries()) {
      const next = growing[at + 1];
      if (next && !name.endsWith(".mpd")) expect(String(next.body).startsWith(String(list.body))).toBe(true);
    }
  }
  expect(live.seconds[0]).toBeGreaterThan(3.4);
  expect(live.seconds).toEqual(live.seconds.toSorted((a, b) => a - b));
  expect(plain.seconds).toEqual([]);

  // With several threads and a maximum bitrate, x264 makes segments of slightly other sizes each time.
  const sizesLeftOut = (body: unknown): string => String(body).replace(/(bandwidth="?=?"?)\d+/gi, "$1…");
  const lists = (store: TestStorage) =>
    Object.fromEntries(
      [...store.objects].filter(([name]) => isList({ name })).map(([name, body]) => [name, sizesLeftOut(body)]),
    );
  expect(lists(live.store)).toEqual(lists(plain.store));
  expect([...live.store.objects.keys()].toSorted()).toEqual([...plain.store.objects.keys()].toSorted());
});

it.concurrent.each([false, true])(
  "a failed stream ends with its stored segments, unless it is cancelled: %s",
  async (isCancelled) => {
    const { store, publication, seconds, abort, encode } = await publish({ ...HLS, ...DASH, live_playlist: true });
    const encoded = encode();
    while (seconds.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    if (isCancelled) abort.abort("cancelled");
    await publication.stop();
    abort.abort("over");
    await encoded.catch(() => undefined);
    const names = ["hls/run/90p.m3u8", "dash/run/90p.m3u8", "dash/master.mpd"];
    const texts = names.map((name) => String(store.objects.get(name)));
    expect(texts.map((text) => /ENDLIST|type="static"/.test(text))).toEqual(Array(3).fill(!isCancelled));
    const known = new Set(store.stored.map(({ name }) => name));
    for (const [name, body] of store.objects) {
      if (isList({ name })) for (const file of namesIn({ name, body })) expect(known).toContain(file);
    }
  },
);

it.concurrent("a stream ends with its stored segments when the storage refuses its last files", async () => {
  let isOver = false;
  const respond: Respond = (name, response) => isOver && /subtitles/.test(name) && !!response.writeHead(403).end();
  const params = { ...HLS, ...DASH, live_playlist: true };
  const { store, publication, seconds, encode } = await publish(params, { respond, subtitles: true });
  expect(await encode()).toEqual({ ok: true });
  while (seconds.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  await publication.check();
  isOver = true;
  expect(await publication.finish(() => undefined)).toHaveProperty("error.code");
  expect(String(store.objects.get("hls/run/90p.m3u8"))).not.toContain("#EXT-X-ENDLIST");
  await Promise.all([publication.stop(), publication.stop()]);
  expect(String(store.objects.get("hls/run/90p.m3u8"))).toContain("#EXT-X-ENDLIST");
  expect(String(store.objects.get("dash/master.mpd"))).toContain('type="static"');
});

it.concurrent("does not fail a stream when the storage refuses its growing playlists", async () => {
  let refused = 0;
  const respond: Respond = (name, response) => {
    const isRefused = name === "hls/run/90p.m3u8" && refused === 0;
    if (isRefused) refused += 1;
    return isRefused && !response.writeHead(403).end().destroyed;
  };
  const { store, seconds, finish } = await publish({ ...HLS, live_playlist: true }, { respond });
  await finish();
  expect(refused).toBe(1);
  expect(seconds.length).toBeGreaterThan(0);
  expect(String(store.objects.get("hls/run/90p.m3u8"))).toContain("#EXT-X-ENDLIST");
});
