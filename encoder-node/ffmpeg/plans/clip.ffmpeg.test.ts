// Encodes clips of sources, and files that were trimmed to the same parts without loss.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { Clip } from "#shared/job/clip.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { decode, decodeAudio, encodeClip, encodeOne, type Made, makeClip } from "../../testing/plan-runs.ts";

const folder = fileFolder();
const VIDEO = "-f lavfi -i testsrc2=s=96x54:r=";
const AUDIO = "-f lavfi -i sine=r=48000:frequency=300:beep_factor=4";
const X264 = "-c:v libx264 -preset ultrafast -g 50 -pix_fmt yuv420p";
const VARYING = "-vf select='not(mod(n\\,3))+gt(mod(n\\,7)\\,4)' -fps_mode vfr";

type Row = {
  readonly name: string;
  readonly make: string;
  readonly clip: Clip;
  /** The seconds at which the file is trimmed: a millisecond before frames of a constant rate. */
  readonly part: readonly [from: number, to: number];
  readonly isAudio?: boolean;
};

const ROWS: readonly Row[] = [
  {
    name: "25.mov",
    make: `${VIDEO}25:d=45 ${AUDIO}:d=45 ${X264} -c:a pcm_s16le`,
    clip: { startMs: 30_000, endMs: 33_000 },
    part: [29.999, 32.999],
  },
  {
    name: "between.mov",
    make: `${VIDEO}25:d=8 ${AUDIO}:d=8 ${X264} -c:a pcm_s16le`,
    clip: { startMs: 2002, endMs: 4000 },
    part: [2.039, 3.999],
  },
  {
    name: "ntsc.mov",
    make: `${VIDEO}30000/1001:d=45 ${AUDIO}:d=45 ${X264} -c:a pcm_s16le`,
    clip: { startMs: 30_030, endMs: 33_000 },
    part: [30.029, 32.999],
  },
  {
    name: "varying.mov",
    make: `${VIDEO}25:d=8 ${AUDIO}:d=8 ${VARYING} ${X264} -c:a pcm_s16le`,
    clip: { startMs: 2000, endMs: 5010 },
    part: [2, 5.01],
  },
  {
    name: "late.ts",
    make: `${VIDEO}25:d=45 ${AUDIO}:d=45 ${X264} -c:a mp2 -output_ts_offset 36000`,
    clip: { startMs: 40_020, endMs: 43_000 },
    // The encoder makes the audio start 10 ms before the video.
    part: [40.049, 42.999],
  },
  {
    name: "late-audio.mov",
    make: `${VIDEO}25:d=6 -itsoffset 0.3 ${AUDIO}:d=5 ${X264} -c:a pcm_s16le`,
    clip: { startMs: 120, endMs: 3000 },
    part: [0.119, 2.999],
  },
  {
    name: "audio.m4a",
    make: `${AUDIO}:d=30 -c:a alac`,
    clip: { startMs: 21_234, endMs: 23_456 },
    part: [21.234, 23.456],
    isAudio: true,
  },
];

const FILE: OutputOptions = { format: "mkv::pcm-s16le:quality=5" };
const AUDIO_FILE: OutputOptions = { format: "wav" };

/** The source, and the same part of it, trimmed without loss. */
async function sources({ name, make, part: [from, to] }: Row): Promise<{ source: string; part: string }> {
  await makeClip(folder, name, make);
  const source = path.join(folder, name);
  const lossless = "-fps_mode passthrough -c:v ffv1 -c:a pcm_s16le -video_track_timescale 120000";
  await makeClip(folder, `part-${name}.mov`, `-copyts -start_at_zero -i ${source} -ss ${from} -to ${to} ${lossless}`);
  return { source, part: path.join(folder, `part-${name}.mov`) };
}

const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test.each(ROWS)("a clip of $name has the frames and samples of the same part trimmed without loss", async (row) => {
  const { source, part } = await sources(row);
  const request = row.isAudio ? AUDIO_FILE : FILE;
  const files = [await encodeOne(source, { ...request, clip: row.clip }), await encodeOne(part, request)];
  const [samples = new Int16Array(), expected] = await Promise.all(files.map((file) => decodeAudio(file)));
  expect(samples.length).toBeGreaterThan(48_000);
  expect(samples.length).toBe(expected?.length);
  // Decoders of lossy audio add noise, which depends on where they start. A sample of the tone is far from the next.
  const differences = samples.map((sample, at) => Math.abs(sample - (expected?.[at] ?? 0)));
  expect(differences.reduce((most, difference) => Math.max(most, difference), 0)).toBeLessThan(8);
  if (row.isAudio) return;
  const frames = await Promise.all(files.map((file) => decode(file, "null", "yuv420p")));
  expect(frames[0]?.length).toBeGreaterThan(96 * 54 * 20);
  expect(hash(frames[0] ?? Buffer.alloc(0))).toBe(hash(frames[1] ?? Buffer.alloc(0)));
});

test.each([
  [7959, 24],
  [7960, 24],
  [7961, 25],
  [9000, 25],
])("a clip that ends at %i ms, near the last frame at 7960 ms, has %i frames", async (endMs, count) => {
  await makeClip(folder, "ends.mov", `${VIDEO}25:d=8 ${X264}`);
  const file = await encodeOne(path.join(folder, "ends.mov"), { ...FILE, clip: { startMs: 7000, endMs } });
  expect((await decode(file, "null", "gray")).length / (96 * 54)).toBe(count);
});

const STREAM_AND_IMAGES: readonly OutputOptions[] = [
  {
    format: "httpstream",
    params: {
      hls: { path: "h" },
      dash: { path: "d" },
      thumbnails: true,
      variants: ["mp4:x54", "mp4:x36_15fps", "mp4:x:48k"],
    },
  },
  { format: "png:64x", params: { number: 3 } },
  { format: "png", params: { offsets: [0, 1.5, 2.9] } },
];

/** The files of all runs since the call before, by their names, as hashes. Without the times of the decoding. */
async function runFiles(seen: Set<string>): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && entry.name !== "decoded-times.txt" && /run-[^/]*$/.test(entry.parentPath),
  );
  const fresh = files.filter(({ parentPath }) => !seen.has(parentPath));
  for (const { parentPath } of files) seen.add(parentPath);
  const named = fresh.map(async ({ parentPath, name }) => [name, hash(await readFile(path.join(parentPath, name)))]);
  return Object.fromEntries(await Promise.all(named));
}

test("streams and images of a clip are, byte for byte, made of the same part trimmed without loss", async () => {
  const clip = { startMs: 30_050, endMs: 33_000 };
  const row: Row = {
    name: "stream.mov",
    make: `${VIDEO}30:d=45 ${AUDIO}:d=45 ${X264} -c:a pcm_s16le`,
    clip,
    // The first frame that both rates have.
    part: [30 + 1 / 15 - 0.001, 32.999],
  };
  const seen = new Set<string>();
  await runFiles(seen);
  const { source, part } = await sources(row);
  const clipped = await encodeClip(
    source,
    STREAM_AND_IMAGES.map((request) => ({ ...request, clip })),
  );
  const ofClip = await runFiles(seen);
  const plain = await encodeClip(part, STREAM_AND_IMAGES);
  expect(ofClip).toEqual(await runFiles(seen));
  expect(Object.keys(ofClip)).toEqual(
    expect.arrayContaining(["0-54p.mp4", "0-36p-00000.ts", "0-audio-48k.mp4", "1-00003.png", "2-00003.png"]),
  );
  const textsOf = ({ commands }: Made) =>
    commands.flatMap(({ outputs }) => outputs.flatMap(({ stream, texts }) => [stream?.thumbnails, texts]));
  expect(textsOf(clipped)).toEqual(textsOf(plain));
});
