// Publishing with real encodes, planned as requests are, and storages on loopback.
import { createDecipheriv } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { AppError } from "#shared/errors.ts";
import { type CommandResult, runCommand } from "../ffmpeg/run-command.ts";
import { guardedAgent } from "../input/address-guard.ts";
import { storageAddressRefusal } from "../upload/storage-failure.ts";
import { openPublication, type Publication, type PublicationDeps, type PublicationOptions } from "./publication.ts";
import { ffmpeg, type PlannedFilm, planFilm, tools } from "./test-film.ts";
import { type Refuse, startTestStorage, type TestStorage } from "./test-storage.ts";

const storages = guardedAgent({ allow: "loopback", refuse: storageAddressRefusal });
const FRAMES = 300;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-publish-"));
  const source = "-f lavfi -i testsrc2=s=160x90:r=25:d=12 -f lavfi -i sine=d=12";
  expect(await ffmpeg(folder, `${source} -c:v libx264 -preset ultrafast -c:a aac film.mp4`)).toEqual({ ok: true });
});
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(async () => {
  await storages.destroy();
  await rm(folder, { recursive: true, force: true });
});

const film = (params: Readonly<Record<string, unknown>>): Promise<PlannedFilm> =>
  planFilm(join(folder, "film.mp4"), {
    variants: ["mp4:160x90", "mp4:96x54", "mp4:x"],
    segment_duration: 2,
    ...params,
  });
const HLS = { hls: { path: "a" } };
const DASH = { dash: { path: "b" } };
const storage = async (refuse?: Refuse): Promise<TestStorage> => {
  const started = await startTestStorage(refuse);
  ends.push(started.close);
  return started;
};

type Run = { publication: Publication; workFolder: string; encode(): Promise<CommandResult> };
type Terms = Partial<PublicationDeps & Pick<PublicationOptions, "subtitles" | "planned">> & { speed?: number };

/** Begins to publish. `encode` takes no less than the film's duration by `speed`, so that there is something to follow. */
async function publish(planned: PlannedFilm, { askUploads }: TestStorage, terms: Terms = {}): Promise<Run> {
  const workFolder = await mkdtemp(join(folder, "work-"));
  const deps = { askUploads, storages, signal: new AbortController().signal, ffprobe: tools.ffprobe, ...terms };
  const options = { ...planned, workFolder, folder: "run", subtitles: [], ...terms };
  const publication = openPublication(options, deps);
  ends.push(publication.stop);
  const argv = planned.argv.toSpliced(planned.argv.indexOf("-i"), 0, "-readrate", String(terms.speed ?? 10));
  const command = { path: tools.ffmpeg.path, argv, cwd: workFolder, stallMs: 60_000 };
  return { publication, workFolder, encode: () => runCommand(command) };
}

it("stores segments while ffmpeg makes them, each thing once, and last of all what players open", async () => {
  const store = await storage();
  const planned = await film({ ...HLS, dash: { path: "b", hlsfmp4: true } });
  const path = join(folder, "hello.vtt");
  await writeFile(path, "WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n");
  const subtitles = [{ language: "en", name: "English", default: true, path }];
  const { publication, workFolder, encode } = await publish(planned, store, { subtitles, speed: 4 });
  expect(await encode()).toEqual({ ok: true });
  const early = [...store.objects.keys()];
  expect(early).toEqual(
    expect.arrayContaining(["hls/run/90p/00001.ts", "dash/run/90p/init.mp4", "dash/run/90p/00001.m4s"]),
  );
  await publication.check();
  let sent = 0;
  const waiting = publication.waitingBytes();
  const made = await publication.finish((bytes) => {
    sent = bytes;
  });
  expect(sent).toBe(waiting);

  const entries = ["hls/master.m3u8", "dash/master.mpd", "dash/master.m3u8"];
  const names = [...store.objects.keys()];
  expect(names.slice(-entries.length).toSorted()).toEqual(entries.toSorted());
  expect("files" in made && made.files.map(({ file }) => file).toSorted()).toEqual(entries.toSorted());
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
  expect(store.asked.flat().toSorted()).toEqual(names.toSorted());
  expect((await readdir(workFolder)).filter((name) => name.endsWith(".ts"))).toEqual([]);

  const ofKind = (kind: string): number =>
    names.filter((name) => new RegExp(`^${kind}/run/[^/]+/\\d+\\.(ts|m4s)$`).test(name)).length;
  expect([ofKind("hls"), ofKind("dash")]).toEqual([18, 18]);
  const sizes = (pattern: RegExp): number =>
    [...store.objects].reduce((sum, [name, body]) => sum + (pattern.test(name) ? body.length : 0), 0);
  const format = { filename: "", nb_streams: 3, nb_programs: 3, probe_score: 100 };
  expect(made).toMatchObject({
    packages: {
      hls: {
        streams: [{ width: 160 }, { width: 96, index: 1, duration: "12.000000" }, { codec_name: "aac", index: 2 }],
        format: { ...format, format_name: "hls", size: String(sizes(/\.ts$/)) },
      },
      dash: { format: { ...format, format_name: "dash", size: String(sizes(/\.m4s$/)) } },
    },
  });
  const { hls } = "packages" in made ? made.packages : {};
  expect(Number(hls?.format.duration)).toBeCloseTo(12.02, 1);
  const bits = sizes(/hls.*90p.*ts$/) * 8;
  expect(Number(hls?.streams[0]?.bit_rate)).toBe(Math.round(bits / 12));
});

it("encrypts MPEG-TS, and nothing else, as players decrypt it", async () => {
  const store = await storage();
  const key = "000102030405060708090a0b0c0d0e0f";
  const planned = await film({ ...HLS, ...DASH, encryption: { key, key_uri: "key.bin" } });
  const { publication, encode } = await publish(planned, store);
  await encode();
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("files");

  const names = [...store.objects.keys()];
  expect(names.filter((name) => name.includes("keyframes"))).toEqual([]);
  const iv = Buffer.from("00000000000000000000000000000002", "hex");
  const decipher = createDecipheriv("aes-128-cbc", Buffer.from(key, "hex"), iv);
  const second = store.objects.get("hls/run/90p/00002.ts") ?? Buffer.alloc(0);
  const plain = Buffer.concat([decipher.update(second), decipher.final()]);
  expect([plain[0], plain[188], plain.length % 188]).toEqual([0x47, 0x47, 0]);

  const home = join(folder, "encrypted");
  await store.save(home);
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

it("gives up at the first upload that cannot be mended, and lets ffmpeg be", async () => {
  const store = await storage((name, answer) => /90p\/00002/.test(name) && !answer.writeHead(403).end().destroyed);
  const { publication, encode } = await publish(await film(HLS), store);
  expect(await encode()).toEqual({ ok: true });
  const requests = store.requests();
  await publication.check();
  expect(await publication.finish(() => undefined)).toMatchObject({ failure: { code: "storage_denied" } });
  expect(store.requests()).toBe(requests);
  expect(requests).toBeLessThan(12);
  expect([...store.objects.keys()].filter((name) => name.endsWith(".m3u8"))).toEqual([]);
});

it("stores thumbnails, and outlives passing trouble", async () => {
  const store = await storage((_, answer, count) => count % 5 === 1 && !answer.writeHead(503).end().destroyed);
  const { publication, encode } = await publish(await film({ ...HLS, ...DASH, thumbnails: true }), store);
  await encode();
  await publication.check();
  expect(await publication.finish(() => undefined)).toHaveProperty("files.length", 4);
  for (const name of ["hls", "dash"]) {
    expect(store.objects.get(`${name}/run/thumbnails/00001.jpg`)?.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
    expect(String(store.objects.get(`${name}/master.vtt`))).toContain("\nrun/thumbnails/00001.jpg#xywh=0,0,");
  }
  expect(String(store.objects.get("dash/master.mpd"))).toContain("thumbnail_tile");
});

it("says why the storage gives no tickets, and rejects when the work is no longer wanted", async () => {
  const planned = await film({ ...HLS, variants: ["mp4:x"] });
  const failure = { code: "storage_bucket_not_found", message: "No such bucket" } as const;
  const refused = await publish(planned, await storage(), { askUploads: async () => ({ failure }) });
  await refused.encode();
  await refused.publication.check();
  expect(await refused.publication.finish(() => undefined)).toEqual({ failure });

  const superseded = new AppError("lease_superseded", "Gone");
  const unwanted = await publish(planned, await storage(), { askUploads: () => Promise.reject(superseded) });
  await unwanted.encode();
  await unwanted.publication.check();
  await expect(unwanted.publication.finish(() => undefined)).rejects.toBe(superseded);
});

it("does not hold ffmpeg up when the storage stands still, and stops at once", async () => {
  const store = await storage(() => true);
  const abort = new AbortController();
  const { publication, encode } = await publish(await film({ ...HLS, ...DASH }), store, { signal: abort.signal });
  const before = Date.now();
  expect(await encode()).toEqual({ ok: true });
  expect(Date.now() - before).toBeLessThan(10_000);
  await publication.check();
  const finished = publication.finish(() => undefined);
  const stopped = Date.now();
  abort.abort("cancelled");
  await expect(finished).rejects.toBe("cancelled");
  await publication.stop();
  expect(Date.now() - stopped).toBeLessThan(1000);
  expect(store.requests()).toBeLessThanOrEqual(4);
});

it("stops in the middle, for good", async () => {
  const store = await storage();
  const { publication, encode } = await publish(await film(DASH), store, { speed: 4 });
  const encoded = encode();
  while (store.objects.size < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  await publication.stop();
  const requests = store.requests();
  await encoded;
  expect(store.requests()).toBe(requests);
});

it("refuses tracks that are too short, that are missing, or that are no such thing", async () => {
  const planned = await film({ ...HLS, ...DASH });
  const of = planned.planned;
  const tooLong = await publish(planned, await storage(), { planned: { ...of, expectedDurationMs: 20_000 } });
  await tooLong.encode();
  await expect(tooLong.publication.check()).rejects.toMatchObject({
    code: "encoding_failed",
    message: expect.stringMatching(/^The result ends at 12\.\d\d s instead of 20\.00 s/),
  });
  const garbage = await publish(planned, await storage());
  await mkdir(garbage.workFolder, { recursive: true });
  for (const { fmp4, ts } of of.stream.tracks) {
    for (const file of [fmp4, ts]) await writeFile(join(garbage.workFolder, file ?? ""), "nothing like it\n");
  }
  await expect(garbage.publication.check()).rejects.toThrow();
  const nothing = await publish(planned, await storage());
  await expect(nothing.publication.check()).rejects.toThrow();
});
