// Publishing with ffmpeg, plans of requests, and storages on loopback.
import { createDecipheriv } from "node:crypto";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { AppError } from "#shared/errors.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { runCommand } from "../ffmpeg/run-command.ts";
import type { CommandResult } from "../ffmpeg/run-tool.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { probeFile } from "../source/probe/probe.ts";
import { SLOW } from "../testing/few.ts";
import { ffmpeg, type PlannedEncode, planStream, tools } from "../testing/jobs/stream-encode.ts";
import { type Respond, startTestStorage, type TestStorage } from "../testing/jobs/stream-storage.ts";
import { makeHeldFfmpeg, releaseRuns } from "../testing/processes/held-ffmpeg.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openPublication, type Publication, type PublicationDeps } from "./publication.ts";
import type { PublicationOptions } from "./stream-feeds.ts";

const storages = storageAgent("loopback");
const FRAMES = 300;
const folder = fileFolder();
beforeAll(async () => {
  const source = "-f lavfi -i testsrc2=s=160x90:r=25:d=12 -f lavfi -i sine=d=12";
  expect(await ffmpeg(folder, `${source} -c:v libx264 -preset ultrafast -c:a aac clip.mp4`)).toEqual({ ok: true });
});
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(async () => {
  await storages.destroy();
});

const plan = (params: Readonly<Record<string, unknown>>): Promise<PlannedEncode> =>
  planStream(join(folder, "clip.mp4"), {
    variants: ["mp4:160x90", "mp4:96x54", "mp4:x"],
    segment_duration: 2,
    ...params,
  });
const HLS = { hls: { path: "a" } };
const DASH = { dash: { path: "b" } };
const storage = async (respond?: Respond): Promise<TestStorage> => {
  const started = await startTestStorage(respond);
  ends.push(started.close);
  return started;
};

type Run = { publication: Publication; files: RunFiles; encode(): Promise<CommandResult> };
type Terms = Partial<PublicationDeps & Pick<PublicationOptions, "subtitles" | "planned">> & {
  speed?: number;
  tool?: typeof tools.ffmpeg;
};

/**
 * Starts to publish. `encode` takes at least the clip's duration divided by `speed`, so that segments appear during the
 * publication.
 */
async function publish(planned: PlannedEncode, { requestUploads }: TestStorage, terms: Terms = {}): Promise<Run> {
  const files = await RunFiles.create(folder);
  const deps = {
    requestUploads,
    storages,
    log: silentLog,
    signal: new AbortController().signal,
    ffprobe: tools.ffprobe,
    playable: () => undefined,
    ...terms,
  };
  const options = { ...planned, files, folder: "run", subtitles: [], ...terms };
  const publication = openPublication(options, deps);
  ends.push(publication.stop);
  const argv = planned.argv.toSpliced(planned.argv.indexOf("-i"), 0, "-readrate", String(terms.speed ?? 10));
  const command = {
    path: (terms.tool ?? tools.ffmpeg).path,
    argv,
    reads: ["clip.mp4", "early.mp4"].map((name) => join(folder, name)),
    stallMs: 60_000,
  };
  return { publication, files, encode: () => files.inRun((cwd) => runCommand({ ...command, cwd })) };
}

it("stores segments while ffmpeg makes them, each file once, and the files that players open last", async () => {
  const store = await storage();
  const planned = await plan({ ...HLS, dash: { path: "b", hlsfmp4: true } });
  const path = join(folder, "hello.vtt");
  await writeFile(path, "WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n");
  const subtitles = [{ language: "en", name: "English", default: true, path }];
  const held = await makeHeldFfmpeg(folder, "-readrate");
  const { publication, files, encode } = await publish(planned, store, { subtitles, tool: held });
  const encoded = encode();
  // The first tracks and formats depend on the build and the machine.
  const early = (): string[] => [...store.objects.keys()].filter((name) => /00001\.(?:ts|m4s)$/.test(name));
  await vi.waitFor(() => expect(early()).not.toEqual([]));
  await releaseRuns(files.folder);
  expect(await encoded).toEqual({ ok: true });
  await publication.check();
  let sent = 0;
  const waiting = publication.waitingBytes();
  const result = await publication.finish((bytes) => {
    sent = bytes;
  });
  expect(sent).toBe(waiting);

  const entries = ["hls/master.m3u8", "dash/master.mpd", "dash/master.m3u8"];
  const names = [...store.objects.keys()];
  expect(names.slice(-entries.length).toSorted()).toEqual(entries.toSorted());
  expect(result.ok && result.value.files.map(({ file }) => file).toSorted()).toEqual(entries.toSorted());
  for (const name of names.filter((each) => each.endsWith(".m3u8"))) {
    const lines = String(store.objects.get(name)).split("\n");
    const files = lines.flatMap((line) => /^(?!#).+|(?<=URI=")[^"]+/.exec(line)?.[0] ?? []);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(names).toContain(posix.join(posix.dirname(name), file));
  }
  const cue = "00:00:01.000 --> 00:00:03.000\nHello\n";
  expect(String(store.objects.get("dash/run/subtitles-1.vtt"))).toBe(`WEBVTT\n\n${cue}`);
  for (const kind of ["hls", "dash"]) {
    expect(String(store.objects.get(`${kind}/run/subtitles-1/00001.vtt`))).toMatch(`LOCAL:00:00:00.000\n\n${cue}`);
  }
  expect(store.requested.flat().toSorted()).toEqual(names.toSorted());
  expect((await readdir(files.folder)).filter((name) => name.endsWith(".ts"))).toEqual([]);

  const ofKind = (kind: string): number =>
    names.filter((name) => new RegExp(`^${kind}/run/[^/]+/\\d+\\.(ts|m4s)$`).test(name)).length;
  expect([ofKind("hls"), ofKind("dash")]).toEqual([18, 18]);
  const sizes = (pattern: RegExp): number =>
    [...store.objects].reduce((sum, [name, body]) => sum + (pattern.test(name) ? body.length : 0), 0);
  const format = { filename: "", nb_programs: 3, probe_score: 100 };
  const bandwidths = [...String(store.objects.get("hls/master.m3u8")).matchAll(/^#EXT-X-STREAM-INF:BANDWIDTH=(\d+)/gm)];
  const [large, small, audio] = bandwidths.map(([, bandwidth]) => ({ tags: { variant_bitrate: bandwidth } }));
  const aac = { codec_name: "aac" };
  expect(result.ok && result.value).toMatchObject({
    packages: {
      hls: {
        streams: [
          { width: 160, ...large },
          { ...aac, ...large },
          { width: 96, index: 2, duration: "12.000000", ...small },
          { ...aac, ...small },
          { ...aac, index: 4, ...audio },
        ],
        format: { ...format, nb_streams: 5, format_name: "hls", size: String(sizes(/\.ts$/)) },
      },
      dash: {
        streams: [{ width: 160 }, { width: 96 }, { ...aac, tags: { variant_bitrate: expect.stringMatching(/^\d+$/) } }],
        format: { ...format, nb_streams: 3, format_name: "dash", size: String(sizes(/\.m4s$/)) },
      },
    },
  });
  const { hls } = result.ok ? result.value.packages : {};
  expect(Number(hls?.format.duration)).toBeCloseTo(12.02, 1);
  const bits = sizes(/hls.*90p.*ts$/) * 8;
  expect(Number(hls?.streams[0]?.bit_rate)).toBe(Math.round(bits / 12));
});

it("encrypts only MPEG-TS, in the way that players decrypt it", SLOW, async () => {
  const store = await storage();
  const key = "000102030405060708090a0b0c0d0e0f";
  const planned = await plan({ ...HLS, ...DASH, encryption: { key, key_uri: "key.bin" } });
  const { publication, encode } = await publish(planned, store);
  await encode();
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("value.files");

  const names = [...store.objects.keys()];
  expect(names.filter((name) => name.includes("keyframes"))).toEqual([]);
  const iv = Buffer.from("00000000000000000000000000000002", "hex");
  const decipher = createDecipheriv("aes-128-cbc", Buffer.from(key, "hex"), iv);
  const second = store.objects.get("hls/run/90p/00002.ts") ?? Buffer.alloc(0);
  const plain = Buffer.concat([decipher.update(second), decipher.final()]);
  expect([plain[0], plain[188], plain.length % 188]).toEqual([0x47, 0x47, 0]);

  const home = join(folder, "encrypted");
  await store.save(home);
  for (const path of [home, join(home, "dash")]) await chmod(path, 0o700);
  await writeFile(join(home, "hls/run/key.bin"), Buffer.from(key, "hex"));
  const argv = ["-v", "error", "-xerror", "-progress", "pipe:1", "-allowed_extensions", "ALL"];
  const inputs = ["-i", "hls/master.m3u8", "-map", "0:v:0", "-map", "0:a:0", "-f", "null", "-"];
  let frames = 0;
  const command = { path: tools.ffmpeg.path, argv: [...argv, ...inputs], cwd: home, stallMs: 60_000 };
  const onProgress = ({ frame }: { frame: number }): void => {
    frames = frame;
  };
  expect(await runCommand({ ...command, onProgress })).toEqual({ ok: true });
  expect(frames).toBe(FRAMES);
  const dash = ["-v", "error", "-xerror", "-i", "master.mpd", "-f", "null", "-"];
  expect(await runCommand({ ...command, argv: dash, cwd: join(home, "dash") })).toEqual({ ok: true });
});

/** Decodes an input in a folder: returns the number of video frames, or a hash of the audio samples. */
async function decode(cwd: string, input: readonly string[], map: string): Promise<{ frames: number; audio: string }> {
  let frames = 0;
  await chmod(cwd, 0o700);
  const argv = ["-v", "error", "-xerror", "-nostdin", "-progress", "pipe:1", ...input, "-map", map];
  const onProgress = ({ frame }: { frame: number }): void => {
    frames = frame;
  };
  const out = map.includes("a") ? ["-f", "md5", "audio.md5"] : ["-f", "null", "-"];
  const command = { path: tools.ffmpeg.path, argv: [...argv, ...out, "-y"], cwd, stallMs: 60_000 };
  expect(await runCommand({ ...command, onProgress })).toEqual({ ok: true });
  return { frames, audio: map.includes("a") ? await readFile(join(cwd, "audio.md5"), "utf8") : "" };
}

it("puts video and audio into the same segments for HLS version 3", SLOW, async () => {
  const store = await storage();
  const planned = await plan({ hls: { path: "a", version: 3 }, ...DASH });
  const { publication, files, encode } = await publish(planned, store);
  expect(await encode()).toEqual({ ok: true });
  await publication.check();
  const result = await publication.finish(() => undefined);
  expect((await readdir(files.folder)).filter((name) => name.endsWith(".ts"))).toEqual([]);

  const master = String(store.objects.get("hls/master.m3u8"));
  expect(master).not.toMatch(/EXT-X-MEDIA|EXT-X-VERSION|I-FRAME/);
  expect(master.match(/CODECS="[^"]+"/g)).toEqual([
    'CODECS="avc1.640015,mp4a.40.2"',
    'CODECS="avc1.640015,mp4a.40.2"',
    'CODECS="mp4a.40.2"',
  ]);
  expect(String(store.objects.get("hls/run/90p.m3u8"))).toMatch(/^#EXTM3U\n#EXT-X-VERSION:3\n/);
  expect(result.ok && result.value).toMatchObject({
    packages: {
      hls: {
        streams: ["h264", "aac", "h264", "aac", "aac"].map((codec_name, index) => ({ codec_name, index })),
        format: { nb_programs: 3 },
      },
      dash: { format: { nb_streams: 3 } },
    },
  });

  const home = join(folder, "muxed");
  await store.save(home);
  const alone = await decode(join(home, "hls/run"), ["-i", "audio-128k.m3u8"], "0:a");
  for (const variant of ["90p", "54p"]) {
    const input = ["-i", `${variant}.m3u8`];
    expect((await decode(join(home, "hls/run"), input, "0:v")).frames).toBe(FRAMES);
    expect((await decode(join(home, "hls/run"), input, "0:a")).audio).toBe(alone.audio);
  }
  // Each segment can be played alone, and its audio has the timestamps of its video.
  for (const number of [1, 2, 6]) {
    const probe = await probeFile(tools.ffprobe, join(home, `hls/run/90p/0000${number}.ts`));
    const [video, audio] = probe.streams.map(({ start_time }) => Number(start_time));
    expect(probe.streams.map(({ codec_type }) => codec_type)).toEqual(["video", "audio"]);
    expect(Math.abs((audio ?? 0) - (video ?? 0))).toBeLessThan(0.4);
  }
});

it("continues with audio alone where the video of HLS version 3 ends early", SLOW, async () => {
  const source = "-f lavfi -i testsrc2=s=160x90:r=25:d=3 -f lavfi -i sine=d=8";
  expect(await ffmpeg(folder, `${source} -c:v libx264 -preset ultrafast -c:a aac early.mp4`)).toEqual({ ok: true });
  const params = { hls: { path: "a", version: 3 }, variants: ["mp4:160x90", "mp4:x"], segment_duration: 2 };
  const store = await storage();
  const { publication, encode } = await publish(await planStream(join(folder, "early.mp4"), params), store);
  expect(await encode()).toEqual({ ok: true });
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("value.files");
  const home = join(folder, "early");
  await store.save(home);
  const segments = String(store.objects.get("hls/run/90p.m3u8")).match(/(?<=#EXTINF:)[\d.]+/g) ?? [];
  expect(segments.map((seconds) => Math.round(Number(seconds)))).toEqual([2, 1, 2, 2, 1]);
  const inHls = join(home, "hls/run");
  const muxed = await decode(inHls, ["-i", "90p.m3u8"], "0:a");
  const alone = await decode(inHls, ["-i", "audio-128k.m3u8"], "0:a");
  expect(muxed.audio).toBe(alone.audio);
});

it("packages HLS as fragmented MP4 when all its video is HEVC", SLOW, async () => {
  const store = await storage();
  const { publication, encode } = await publish(await plan({ ...HLS, variants: ["mp4:hevc_160x90", "mp4:x"] }), store);
  expect(await encode()).toEqual({ ok: true });
  await publication.check();
  const result = await publication.finish(() => undefined);
  expect(result.ok && result.value).toMatchObject({
    packages: { hls: { streams: [{ codec_name: "hevc" }, { codec_name: "aac" }, {}] } },
  });
  expect([...store.objects.keys()].filter((name) => name.endsWith(".ts"))).toEqual([]);
  const home = join(folder, "hevc");
  await store.save(home);
  const input = ["-allowed_extensions", "ALL", "-i", "master.m3u8"];
  expect((await decode(join(home, "hls"), input, "0:v:0")).frames).toBe(FRAMES);
});

it("stops at the first final upload failure, and does not stop ffmpeg", async () => {
  const store = await storage((name, answer) => /90p\/00002/.test(name) && !answer.writeHead(403).end().destroyed);
  const { publication, encode } = await publish(await plan(HLS), store, { speed: 3 });
  expect(await encode()).toEqual({ ok: true });
  await publication.check();
  expect(await publication.finish(() => undefined)).toMatchObject({ ok: false, error: { code: "storage_denied" } });
  // The stream has 18 segments and the playlists.
  expect(store.requests()).toBeLessThan(18);
  expect([...store.objects.keys()].filter((name) => name.endsWith(".m3u8"))).toEqual([]);
});

it("stores thumbnails, and retries temporary failures", async () => {
  const store = await storage((_, answer, count) => count % 5 === 1 && !answer.writeHead(503).end().destroyed);
  const { publication, encode } = await publish(await plan({ ...HLS, ...DASH, thumbnails: true }), store);
  await encode();
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("value.files.length", 4);
  for (const name of ["hls", "dash"]) {
    expect(store.objects.get(`${name}/run/thumbnails/00001.jpg`)?.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    expect(String(store.objects.get(`${name}/master.vtt`))).toContain("\nrun/thumbnails/00001.jpg#xywh=0,0,");
  }
  expect(String(store.objects.get("dash/master.mpd"))).toContain("thumbnail_tile");
});

it("returns the reason when no tickets are signed, and rejects when the lease is superseded", SLOW, async () => {
  const planned = await plan({ ...HLS, variants: ["mp4:x"] });
  const failure = { code: "storage_bucket_not_found", message: "No such bucket" } as const;
  const refused = await publish(planned, await storage(), { requestUploads: async () => ({ failure }) });
  await refused.encode();
  await refused.publication.check();
  expect(await refused.publication.finish(() => undefined)).toEqual({ ok: false, error: failure });

  const superseded = new AppError("lease_superseded", "Gone");
  const unwanted = await publish(planned, await storage(), { requestUploads: () => Promise.reject(superseded) });
  await unwanted.encode();
  await unwanted.publication.check();
  await expect(unwanted.publication.finish(() => undefined)).rejects.toBe(superseded);
});

it("does not block ffmpeg when the storage stalls, and stops at once", SLOW, async () => {
  const store = await storage(() => true);
  const abort = new AbortController();
  const { publication, encode } = await publish(await plan({ ...HLS, ...DASH }), store, { signal: abort.signal });
  expect(await encode()).toEqual({ ok: true });
  await publication.check();
  const finished = publication.finish(() => undefined);
  abort.abort("cancelled");
  await expect(finished).rejects.toBe("cancelled");
  await publication.stop();
  expect(store.requests()).toBeLessThanOrEqual(4);
});

it("stops a publication in the middle", SLOW, async () => {
  const answered = 3;
  const store = await storage((_name, _response, count) => count > answered);
  const { publication, encode } = await publish(await plan(DASH), store, { speed: 4 });
  const encoded = encode();
  // All four senders wait for a response, so none of their requests is still on its way.
  await vi.waitFor(() => expect(store.requests()).toBe(answered + 4), 20_000);
  await publication.stop();
  await encoded;
  expect(store.requests()).toBe(answered + 4);
});

it("rejects tracks that are too short, missing, or invalid", async () => {
  const planned = await plan({ ...HLS, ...DASH });
  const of = planned.planned;
  const tooLong = await publish(planned, await storage(), {
    planned: { ...of, tracks: [{ kind: "audio", endMs: 20_000 }] },
  });
  await tooLong.encode();
  await expect(tooLong.publication.check()).rejects.toMatchObject({
    code: "encoding_failed",
    message: expect.stringMatching(/^The audio of the result ends at 12\.\d\d s instead of 20\.00 s/),
  });
  const garbage = await publish(planned, await storage());
  for (const { fmp4, ts } of of.stream.tracks) {
    for (const file of [fmp4, ts]) await writeFile(garbage.files.pathOf(file ?? ""), "nothing like it\n");
  }
  await expect(garbage.publication.check()).rejects.toThrow();
  const nothing = await publish(planned, await storage());
  await expect(nothing.publication.check()).rejects.toThrow();
});
