// Reads the tracks of real runs, and compares them with the results of ffprobe and decoders for the same bytes.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, cp, mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import type { TrackKind } from "#shared/plan/source/source-tracks.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { toolEnvironment } from "../ffmpeg/sandbox/tool-environment.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { few } from "../testing/few.ts";
import { FFMPEG, FFPROBE, makeClip } from "../testing/plan-runs.ts";
import { fmp4Reader, type ReadySegment, type TrackHeader, type TrackReader, tsReader } from "./track-reader.ts";

const SEGMENT_SECONDS = 4;
const TIMELINE = "output_ts_offset=10:avoid_negative_ts=disabled";
const FMP4 = `movflags=+frag_keyframe+empty_moov+default_base_moof+frag_discont:use_editlist=0:${TIMELINE}`;
const HLS = `f=hls:hls_time=${SEGMENT_SECONDS}:hls_playlist_type=event:hls_segment_type=mpegts:hls_flags=temp_file:hls_segment_options=mpegts_copyts=1:max_delay=700000:${TIMELINE}`;
const X264 = "-c:v libx264 -preset ultrafast -bf 2";
const GRID = "-flags +global_header -g 9999 -sc_threshold 0 -force_key_frames expr:gte(t,n_forced*2)";

const fmp4 = (name: string, more = ""): string => `[f=mp4:${FMP4}${more}]${name}.mp4`;
const ts = (name: string): string => `[${HLS}:hls_segment_filename=${name}-%05d.ts]${name}.m3u8`;
const video = (name: string, frames: string, options = X264): string =>
  `-f lavfi -i testsrc=s=160x90:${frames},format=yuv420p -map 0:v -fps_mode vfr ${options} ${GRID} -f tee ${fmp4(name)}|${ts(name)}`;
const audio = (name: string, source: string): string =>
  `-f lavfi -i ${source} -map 0:a -c:a aac -b:a 96k -flags +global_header -f tee ${fmp4(name, ":frag_duration=500000")}|${ts(name)}`;

/** Video with a keyframe every 2 s; segments of 4 s. */
const CLIPS: Readonly<Record<string, { kind: TrackKind; seconds: number; argv: string }>> = {
  main: { kind: "video", seconds: 11.011, argv: video("main", "r=30000/1001:d=11") },
  rung: { kind: "video", seconds: 11.011, argv: video("rung", "r=30000/1001:d=11", `-s 96x54 ${X264} -b:v 50k`) },
  vfr: {
    kind: "video",
    seconds: 20,
    argv: video("vfr", "r=25:d=20,select=not(between(t\\,5.1\\,14.9))*lt(mod(n\\,7)\\,5)"),
  },
  late: { kind: "video", seconds: 10.2, argv: video("late", "r=25:d=7", `-vf setpts=PTS+3.2/TB ${X264}`) },
  tail: { kind: "video", seconds: 8.2, argv: video("tail", "r=25:d=8.2") },
  stereo: { kind: "audio", seconds: 11, argv: audio("stereo", "sine=440:d=11:r=48000,aformat=channel_layouts=stereo") },
  surround: {
    kind: "audio",
    seconds: 8.3,
    argv: audio("surround", "anoisesrc=d=8.3:r=44100:a=0.01,aformat=channel_layouts=5.1"),
  },
  hevc: {
    kind: "video",
    seconds: 5,
    argv: `-f lavfi -i testsrc=s=160x90:r=24:d=5,format=yuv420p10 -map 0:v -c:v libx265 -preset ultrafast -x265-params log-level=none:open-gop=0:keyint=48:scenecut=0 -tag:v hvc1 -flags +global_header -f tee ${fmp4("hevc")}`,
  },
};
const NAMES = Object.keys(CLIPS);
const TS_NAMES = NAMES.filter((name) => name !== "hevc");

const folder = fileFolder();
let clips = "";
const at = (name: string): string => path.join(clips, name);
beforeAll(async () => {
  clips = path.join(folder, "clips");
  await mkdir(clips);
  for (const { argv } of Object.values(CLIPS)) {
    const words = argv.split(" ");
    await makeClip(clips, words.at(-1) ?? "", words.slice(0, -1).join(" "));
  }
});

/** A file in the folder of the clips, or in another folder. */
const clip = (file: string, within = clips) => ({ files: new RunFiles(within), file, segmentSeconds: SEGMENT_SECONDS });
const kindOf = (name: string): TrackKind => CLIPS[name]?.kind ?? "video";
const fmp4Of = (name: string): TrackReader => fmp4Reader({ ...clip(`${name}.mp4`), kind: kindOf(name) });

type Track = { header: TrackHeader; ready: ReadySegment[] };

async function readAll(reader: TrackReader): Promise<Track> {
  const header = await reader.header();
  const ready = await reader.next(true);
  await reader.close();
  if (!header) throw new Error("no header");
  return { header, ready };
}

/** Reads a copy, because the last file may be appended to the file before it. */
async function readTs(name: string): Promise<Track> {
  const copy = await mkdtemp(path.join(folder, "copy-"));
  await cp(clips, copy, { recursive: true, filter: (file) => file === clips || path.basename(file).startsWith(name) });
  return readAll(tsReader({ ...clip(`${name}.m3u8`, copy), kind: kindOf(name) }));
}

const Packets = z.object({
  packets: z.array(
    z.object({
      pts: z.int(),
      size: z.coerce.number(),
      // Unknown for audio frames that share a PES packet.
      pos: z.coerce.number().catch(-1),
      flags: z.string(),
    }),
  ),
});
type Packet = z.infer<typeof Packets>["packets"][number];

const run = promisify(execFile);
const options = { env: toolEnvironment(), maxBuffer: 64 * 1024 * 1024 };

async function packetsOf(file: string): Promise<Packet[]> {
  const argv = ["-v", "error", "-show_entries", "packet=pts,size,pos,flags", "-of", "json", file];
  return Packets.parse(JSON.parse((await run(FFPROBE, argv, options)).stdout)).packets;
}

/**
 * Returns the number of frames that a decoder gets from some bytes. Throws its error messages, except allowed messages.
 */
async function decodedFrames(bytes: Buffer, allowed = /^$/): Promise<number> {
  const file = path.join(await mkdtemp(path.join(folder, "decode-")), "part");
  await writeFile(file, bytes);
  const argv = ["-v", "error", "-i", file, "-f", "framecrc", "-"];
  const { stdout, stderr } = await run(FFMPEG, argv, options);
  const errors = stderr.split("\n").filter((line) => line !== "" && !allowed.test(line));
  if (errors.length > 0) throw new Error(stderr);
  return stdout.split("\n").filter((line) => /^\d/.test(line)).length;
}

async function bytesOf({ path, offset, segment }: ReadySegment): Promise<Buffer> {
  return (await readFile(path)).subarray(offset, offset + segment.sizeBytes);
}

/** Segments start with the first packet, are contiguous, and end with the clip. */
function expectContiguous(name: string, { header, ready }: Track, packets: readonly Packet[]): void {
  const starts = ready.map(({ segment }) => segment.start);
  const ends = ready.map(({ segment: { start, duration } }) => start + duration);
  expect(starts).toEqual([Math.min(...packets.map(({ pts }) => pts)), ...ends.slice(0, -1)]);
  const beyond = (ends.at(-1) ?? 0) / header.timescale - 10 - (CLIPS[name]?.seconds ?? 0);
  // MPEG-TS cannot express that the last audio frame, of 1024 samples, is partly silence.
  const isPadded = header.initBytes === null && header.audio !== null;
  expect(beyond).toBeGreaterThan(-0.0001);
  expect(beyond).toBeLessThan(isPadded ? 1024 / 44_100 : 0.0001);
}

const isKey = ({ flags }: Packet): boolean => flags.startsWith("K");

const seconds = ({ header, ready }: Track): string =>
  ready
    .map(({ segment: { start, duration } }) =>
      [start / header.timescale - 10, duration / header.timescale].map((value) => +value.toFixed(3)).join("+"),
    )
    .join(" ");

describe("fragmented MP4", () => {
  few(2).each([
    ["main", "0+4.004 4.004+4.004 8.008+3.003", "avc1.4d400b 160x90 30000"],
    ["rung", "0+4.004 4.004+4.004 8.008+3.003", "avc1.4d500b 96x54 30000"],
    ["vfr", "0+4 4+10.92 14.92+1.08 16+4", "avc1.4d400b 160x90 12800"],
    ["late", "3.2+2 5.2+4 9.2+1", "avc1.4d400b 160x90 12800"],
    ["tail", "0+4 4+4.2", "avc1.4d400b 160x90 12800"],
    ["hevc", "0+4 4+1", "hvc1.2.4.L30.90 160x90 12288"],
    ["stereo", "-0.021+4.096 4.075+4.096 8.171+2.829", "mp4a.40.2 2 channels 48000"],
    ["surround", "-0.023+4.087 4.063+4.237", "mp4a.40.2 6 channels 44100"],
  ])("%s: segment times and description", async (name, segments, description) => {
    const track = await readAll(fmp4Of(name));
    const { codec, video, audio, timescale } = track.header;
    const size = video ? `${video.width}x${video.height}` : `${audio?.channels} channels`;
    expect(seconds(track)).toBe(segments);
    expect(`${codec} ${size} ${timescale}`).toBe(description);
  });

  few(2).each(NAMES)("%s: times and keyframes match ffprobe's", async (name) => {
    const packets = await packetsOf(at(`${name}.mp4`));
    const track = await readAll(fmp4Of(name));
    expectContiguous(name, track, packets);
    const ranges = track.ready.flatMap(({ segment, offset }) =>
      segment.keyframes.map(({ start, ...range }) => ({ pts: start, endsAt: offset + range.offset + range.sizeBytes })),
    );
    const keys = kindOf(name) === "audio" ? [] : packets.filter(isKey);
    expect(ranges).toEqual(keys.map(({ pts, pos, size }) => ({ pts, endsAt: pos + size })));
  });

  few(2).each(NAMES)("%s: every segment and every keyframe decodes on its own", async (name) => {
    const packets = await packetsOf(at(`${name}.mp4`));
    const { header, ready } = await readAll(fmp4Of(name));
    const init = (await readFile(at(`${name}.mp4`))).subarray(0, header.initBytes ?? 0);
    for (const each of ready) {
      const { offset, segment } = each;
      const bytes = await bytesOf(each);
      const inside = packets.filter(({ pos }) => pos >= offset && pos < offset + segment.sizeBytes);
      expect(await decodedFrames(Buffer.concat([init, bytes]))).toBe(inside.length);
      for (const keyframe of segment.keyframes) {
        const range = bytes.subarray(keyframe.offset, keyframe.offset + keyframe.sizeBytes);
        // The fragment lists the other frames as well.
        expect(await decodedFrames(Buffer.concat([init, range]), /partial file$/)).toBe(1);
      }
    }
  });

  few(2).each(["main", "stereo", "tail"])("%s: gives the same result when read while it grows", async (name) => {
    const bytes = await readFile(at(`${name}.mp4`));
    const growing = at(`growing-${name}.mp4`);
    const reader = fmp4Reader({ ...clip(path.basename(growing)), kind: kindOf(name) });
    expect([await reader.header(), await reader.next(false)]).toEqual([null, []]);
    const ready: ReadySegment[] = [];
    let early = 0;
    for (let from = 0; from < bytes.length; from += 397) {
      await appendFile(growing, bytes.subarray(from, from + 397));
      const more = await reader.next(false);
      for (const { offset, segment } of more) expect(offset + segment.sizeBytes).toBeLessThanOrEqual(from + 397);
      early += more.length;
      ready.push(...more);
    }
    ready.push(...(await reader.next(true)));
    const header = await reader.header();
    await reader.close();
    const whole = await readAll(fmp4Of(name));
    expect(header).toEqual(whole.header);
    expect(ready.map(({ offset, segment }) => ({ offset, segment }))).toEqual(
      whole.ready.map(({ offset, segment }) => ({ offset, segment })),
    );
    expect(early).toBe(ready.length - 1);
  });
});

describe("MPEG-TS", () => {
  few(2).each([
    ["main", "0+4.004 4.004+4.004 8.008+3.003", "avc1.4d400b 160x90"],
    ["rung", "0+4.004 4.004+4.004 8.008+3.003", "avc1.4d500b 96x54"],
    ["vfr", "0+4 4+10.92 14.92+1.08 16+4", "avc1.4d400b 160x90"],
    ["late", "3.2+4 7.2+3", "avc1.4d400b 160x90"],
    ["tail", "0+4 4+4.2", "avc1.4d400b 160x90"],
    ["stereo", "-0.021+4.011 3.989+3.989 7.979+3.029", "mp4a.40.2 2 channels"],
    ["surround", "-0.023+4.017 3.994+4.319", "mp4a.40.2 6 channels"],
  ])("%s: segment times and description", async (name, segments, description) => {
    const track = await readTs(name);
    const { codec, video, audio, timescale, initBytes } = track.header;
    const size = video ? `${video.width}x${video.height}` : `${audio?.channels} channels`;
    expect(seconds(track)).toBe(segments);
    expect([`${codec} ${size}`, timescale, initBytes]).toEqual([description, 90_000, null]);
  });

  few(2).each(TS_NAMES)(
    "%s: times and keyframes match ffprobe's, and every segment decodes on its own",
    async (name) => {
      const track = await readTs(name);
      const all: Packet[] = [];
      for (const each of track.ready) {
        const packets = await packetsOf(each.path);
        all.push(...packets);
        const bytes = await bytesOf(each);
        expect(bytes.length).toBe((await readFile(each.path)).length);
        expect(await decodedFrames(bytes)).toBe(packets.length);
        const keys = kindOf(name) === "audio" ? [] : packets.filter(isKey);
        const { keyframes } = each.segment;
        expect(keyframes.map(({ start, offset }) => ({ start, offset }))).toEqual(
          keys.map(({ pts, pos }) => ({ start: pts, offset: pos })),
        );
        for (const { offset, sizeBytes } of keyframes) {
          // Players read the tables before the first keyframe.
          const tables = bytes.subarray(0, keyframes[0]?.offset);
          const range = bytes.subarray(offset, offset + sizeBytes);
          expect(await decodedFrames(Buffer.concat([tables, range]))).toBe(1);
          expect(range.length % 188).toBe(0);
        }
      }
      expectContiguous(name, track, all);
    },
  );

  test("segments are returned as ffmpeg lists them, and the last segments after ffmpeg has ended", async () => {
    const whole = await readTs("main");
    const growing = at("growing-ts");
    await mkdir(growing);
    for (const index of [0, 1, 2]) await cp(at(`main-0000${index}.ts`), path.join(growing, `main-0000${index}.ts`));
    const lines = (await readFile(at("main.m3u8"), "utf8")).trim().split("\n");
    const reader = tsReader({ ...clip("main.m3u8", growing), kind: "video" });
    const counts: number[] = [(await reader.next(false)).length];
    const ready: ReadySegment[] = [];
    for (const listed of [7, 9, 11, 12]) {
      await writeFile(path.join(growing, "main.m3u8"), `${lines.slice(0, listed).join("\n")}\n`);
      const more = await reader.next(listed === 12);
      counts.push(more.length);
      ready.push(...more);
    }
    expect(counts).toEqual([0, 0, 1, 1, 1]);
    expect(ready.map(({ segment }) => segment)).toEqual(whole.ready.map(({ segment }) => segment));
  });
});

test("segments are available while ffmpeg runs", async () => {
  const source = ["-y", "-v", "error", "-readrate", "6", "-i", at("main.mp4"), "-map", "0:v", ...X264.split(" ")];
  const tracks = `${fmp4("live", ":flush_packets=1")}|${ts("live")}`;
  const ffmpeg = spawn(FFMPEG, [...source, ...GRID.split(" "), "-f", "tee", tracks], { cwd: clips, env: options.env });
  const exit = once(ffmpeg, "exit");
  const readers = [fmp4Of("live"), tsReader({ ...clip("live.m3u8"), kind: "video" })];
  const early: ReadySegment[][] = [[], []];
  while (ffmpeg.exitCode === null) {
    for (const [index, reader] of readers.entries()) early[index]?.push(...(await reader.next(false)));
    await sleep(20);
  }
  expect(await exit).toEqual([0, null]);
  for (const [index, reader] of readers.entries()) {
    const late = await reader.next(true);
    await reader.close();
    expect(early[index]?.length).toBeGreaterThan(0);
    expect(late.length).toBeGreaterThan(0);
    const ready = [...(early[index] ?? []), ...late];
    for (const each of ready) expect((await bytesOf(each)).length).toBe(each.segment.sizeBytes);
    const whole = index === 0 ? await readAll(fmp4Of("live")) : await readTs("live");
    expect(ready.map(({ segment }) => segment)).toEqual(whole.ready.map(({ segment }) => segment));
  }
});

test("frames that are presented before their decoding time keep their presentation times", async () => {
  const { argv } = CLIPS.main ?? { argv: "" };
  const signed = argv.replace("+frag_keyframe", "+negative_cts_offsets+frag_keyframe").replaceAll("main.", "signed.");
  const words = signed.replaceAll("main-", "signed-").split(" ");
  await makeClip(clips, words.at(-1) ?? "", words.slice(0, -1).join(" "));
  expect(seconds(await readAll(fmp4Of("signed")))).toBe(seconds(await readAll(fmp4Of("main"))));
});

test("a fragment with a negative decoding time is rejected", async () => {
  // The second frame is presented 20 s after the first, the third 40 s: with two B-frames decoding starts 20 s earlier.
  await makeClip(
    clips,
    "slides.mp4",
    `-f lavfi -i testsrc=s=160x90:r=1/20:d=80 ${X264} -f mp4 -${FMP4.replaceAll("=", " ").replaceAll(":", " -")}`,
  );
  const reader = fmp4Of("slides");
  await expect(reader.next(true)).rejects.toThrow("negative decoding time");
  await reader.close();
});

describe("invalid data is rejected, also at the second call", () => {
  const head = async (name: string): Promise<Buffer> => (await readFile(at(`${name}.mp4`))).subarray(0, 3000);
  const box = (type: string, sizeBytes: number): Buffer => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt32BE(sizeBytes);
    bytes.write(type, 4);
    return bytes;
  };

  few(2).each<[string, () => Promise<Buffer>]>([
    ["an empty file", async () => Buffer.alloc(0)],
    ["zeros", async () => Buffer.alloc(4000)],
    ["a playlist", async () => readFile(at("main.m3u8"))],
    ["MPEG-TS", async () => readFile(at("main-00000.ts"))],
    ["a box of no size", async () => box("ftyp", 0)],
    ["a foreign box", async () => box("free", 64)],
    ["samples without a fragment", async () => box("mdat", 64)],
    ["a truncated file", async () => head("main")],
    ["audio instead of video", async () => readFile(at("stereo.mp4"))],
  ])("%s", async (name, bytes) => {
    const file = at(`${name.replaceAll(" ", "-")}.mp4`);
    await writeFile(file, await bytes());
    const reader = fmp4Reader({ ...clip(path.basename(file)), kind: "video" });
    await expect(reader.next(true)).rejects.toThrow();
    await expect(reader.next(true)).rejects.toThrow();
    await reader.close();
  });

  few(2).each([
    ["no playlist", null],
    ["an unfinished playlist", "#EXTM3U\n#EXTINF:4,\nmain-00000.ts\n"],
    ["a segment in another format", "#EXTM3U\n#EXTINF:4,\nmain.mp4\n#EXT-X-ENDLIST\n"],
    ["a segment without frames", "#EXTM3U\n#EXTINF:4,\nempty.ts\n#EXT-X-ENDLIST\n"],
    ["audio instead of video", "#EXTM3U\n#EXTINF:4,\nstereo-00000.ts\n#EXT-X-ENDLIST\n"],
    ["no durations", "#EXTM3U\n#EXT-X-TARGETDURATION:4\nmain-00000.ts\n#EXT-X-ENDLIST\n"],
  ])("%s", async (name, text) => {
    const playlist = at(`${name.replaceAll(" ", "-")}.m3u8`);
    await writeFile(at("empty.ts"), "");
    if (text !== null) await writeFile(playlist, text);
    const reader = tsReader({ ...clip(path.basename(playlist)), kind: "video" });
    await expect(reader.next(true)).rejects.toThrow();
    await expect(reader.next(true)).rejects.toThrow();
  });
});
