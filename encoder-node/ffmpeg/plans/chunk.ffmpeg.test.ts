// Compares videos that are encoded in chunks and joined with the same videos encoded as a whole.
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few, SLOW } from "../../testing/few.ts";
import { type Both, look, lossless, type Made, makeBoth, type Shown } from "../../testing/jobs/chunked-encodes.ts";
import { makeClip } from "../../testing/plan-runs.ts";

const folder = fileFolder();

/** Tolerance of times, in seconds. */
const EXACT = 0.0001;
const SECONDS = 8;
const SPLITS = [1.9, 5.1];

const VIDEO = `-f lavfi -i testsrc2=s=96x64:d=${SECONDS}:r=`;
const AUDIO = `-f lavfi -i sine=440:r=48000:d=${SECONDS}`;
const X264 = "-c:v libx264 -preset ultrafast -bf 2 -g 33";
const FAST = `${AUDIO} ${X264} -c:a aac`;
const UNEVEN = "-vf select=not(mod(n\\,3))+not(mod(n\\,7))*lt(t\\,3),select=not(between(t\\,4.1\\,5.7)) -fps_mode vfr";

const MP4: OutputOptions = { format: "mp4" };
const SLOWER: OutputOptions = { format: "mkv:x48_15fps" };
const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, segment_duration: 4, variants: ["mp4:x64:48k"], thumbnails: true },
};

type Clip = {
  name: string;
  files: readonly (readonly [name: string, make: string])[];
  requests: readonly OutputOptions[];
};
const clip = (name: string, file: string, make: string, ...requests: OutputOptions[]): Clip => ({
  name,
  files: [[file, make]],
  requests,
});
const remade = (name: string, file: string, source: string, make: string, ...requests: OutputOptions[]): Clip => ({
  name,
  requests,
  files: [
    ["made.mp4", source],
    [file, make],
  ],
});

const CLIPS: readonly Clip[] = [
  clip("25", "a.mp4", `${VIDEO}25 ${FAST}`, MP4, SLOWER, STREAM),
  clip("29.97 from Matroska, which rounds to milliseconds", "a.mkv", `${VIDEO}30000/1001 ${FAST}`, MP4, SLOWER, STREAM),
  clip("23.976", "a.mp4", `${VIDEO}24000/1001 ${FAST}`, STREAM, { format: "mov:x32:mp3" }),
  clip("59.94", "a.mp4", `${VIDEO}60000/1001 ${FAST}`, { format: "mkv" }, { format: "mp4:25fps" }),
  remade(
    "a variable frame rate, with a gap, and a last frame of one second",
    "a.mp4",
    `${VIDEO}30 ${AUDIO} ${UNEVEN} ${X264} -bf 0 -c:a aac`,
    "-i made.mp4 -c copy -bsf:v setts=pts=PTS:dts=DTS:duration=if(eq(NEXT_DTS\\,NOPTS)\\,1/TB\\,DURATION)",
    ...[MP4, SLOWER, STREAM],
  ),
  clip("MPEG-TS", "a.ts", `${VIDEO}25 ${FAST}`, MP4, { format: "mpegts:15fps" }, STREAM),
  remade(
    "MPEG-TS with audio that begins late, and an unused track that begins first",
    "a.ts",
    `${VIDEO}25 ${FAST}`,
    "-itsoffset 0.37 -i made.mp4 -itsoffset 0.52 -i made.mp4 -i made.mp4 -map 0:v -map 1:a -map 2:a -c copy",
    ...[MP4, SLOWER],
  ),
  clip("open GOPs", "a.mkv", `${VIDEO}25 ${FAST} -bf 3 -x264-params open-gop=1`, MP4),
  remade("an edit list that trims the beginning", "a.mp4", `${VIDEO}25 ${FAST}`, "-ss 0.5 -i made.mp4 -c copy", MP4),
  remade("rotated by 90°", "a.mp4", `${VIDEO}25 ${FAST}`, "-display_rotation 90 -i made.mp4 -c copy", MP4),
  clip(
    "interlaced",
    "a.mkv",
    `-f lavfi -i testsrc2=s=96x64:d=${SECONDS}:r=50,interlace ${FAST} -flags +ildct+ilme -x264-params tff=1`,
    { format: "mp4", params: { deinterlace: true } },
    { format: "mkv:15fps", params: { deinterlace: true } },
  ),
  clip("video that begins late", "a.mkv", `-itsoffset 0.613 ${VIDEO}25 ${FAST}`, MP4, SLOWER, STREAM),
  clip("other containers", "a.mp4", `${VIDEO}25 ${FAST}`, { format: "flv:h264:aac" }, { format: "avi:h264" }),
];

few(2).each(CLIPS)("$name: gives the same frames, times and audio from chunks", async ({ files, requests }) => {
  for (const [name, make] of files) await makeClip(folder, name, make);
  const both = await makeBoth(path.join(folder, files.at(-1)?.[0] ?? ""), requests, SPLITS, lossless);
  expect(both.joined.outputs).toEqual(both.whole.outputs);
  for (const [at, { files: names, stream }] of both.whole.outputs.entries()) {
    for (const file of names) expectSame(await lookAt(both, at, (of) => path.join(of.folder, file)), both, "video");
    for (const file of stream?.thumbnails?.files ?? []) {
      const sheets = [both.whole, both.joined].map(({ folder }) => readFile(path.join(folder, file)));
      expect(await sheets[1]).toEqual(await sheets[0]);
    }
    for (const track of stream?.tracks ?? []) {
      expectSame(await lookAt(both, at, ({ folder }) => path.join(folder, track.fmp4 ?? "")), both, track.name);
      expectSame(await lookAt(both, at, (of) => segmentsOf(of, track)), both, track.name);
    }
  }
});

type Pair = { readonly output: number; readonly whole: Shown; readonly joined: Shown };

async function lookAt(both: Both, at: number, pathOf: (made: Made) => string | Promise<string>): Promise<Pair> {
  const [whole, joined] = await Promise.all([both.whole, both.joined].map(async (side) => look(await pathOf(side))));
  if (!whole || !joined) throw new Error("No files");
  return { output: at, whole, joined };
}

/** Joins all MPEG-TS segments of a track into a file and returns its path. */
async function segmentsOf({ folder }: Made, { ts }: StreamTrack): Promise<string> {
  const prefix = (ts ?? "").replace(".m3u8", "-");
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix) && name.endsWith(".ts")).toSorted();
  expect(names.length).toBeGreaterThan(1);
  const file = path.join(folder, `${prefix}all`);
  await writeFile(file, Buffer.concat(await Promise.all(names.map((name) => readFile(path.join(folder, name))))));
  return file;
}

function expectSame({ output, whole, joined }: Pair, { chunks }: Both, track: string): void {
  expect(joined.frames.map(({ hash }) => hash)).toEqual(whole.frames.map(({ hash }) => hash));
  expectTimes(timesOf(joined), timesOf(whole));
  expect(joined.audio).toBe(whole.audio);
  expectTimes(joined.spans.flat(), whole.spans.flat(), EXACT, `${track} of ${output}`);
  const planned = chunks.map((tracks) => tracks.find((of) => of.output === output && of.track === track));
  // Keyframes of streams are on their grid, whatever the chunks are.
  if (track !== "video") expect(keyframes(joined)).toEqual(keyframes(whole));
  for (const [at, chunk] of planned.entries()) {
    if (!chunk || !joined.isTimed) continue;
    const before = planned.slice(0, at).reduce((sum, of) => sum + (of?.frames ?? 0), 0);
    const [first, wanted] = [joined.frames[before], chunk.firstUs / 1e6];
    // Some containers start at a time of their own, others at the source's start.
    const shift = (joined.frames[0]?.seconds ?? 0) - (planned[0]?.firstUs ?? 0) / 1e6;
    expect(first?.isKey).toBe(true);
    expect(Math.abs((first?.seconds ?? 0) - shift - wanted)).toBeLessThan(0.001);
    const remaining = joined.frames.length - before;
    if (at === planned.length - 1) expect(chunk.frames ?? remaining).toBe(remaining);
  }
}

const keyframes = ({ frames }: Shown): number[] => frames.flatMap(({ isKey }, at) => (isKey ? [at] : []));

const timesOf = ({ frames }: Shown): number[] => frames.map(({ seconds }) => seconds);

function expectTimes(actual: readonly number[], wanted: readonly number[], within = EXACT, of = ""): void {
  expect(actual).toHaveLength(wanted.length);
  const errors = actual.map((time, at) => Math.abs(time - (wanted[at] ?? 0)));
  expect(Math.max(0, ...errors), of).toBeLessThan(within);
}

test("gives every codec's chunks the same header, the planned frames, and the whole's keyframes", SLOW, async () => {
  await makeClip(folder, "b.mp4", `${VIDEO}30000/1001 ${FAST}`);
  const encoded = ["mp4:x64_200k:48k", "mp4:hevc_x48:48k", "mp4:av1_x64:48k", "mp4:vp9_x64:48k"];
  const variants = [...encoded, "mp4:av1_x66_200k:opus_48k", "mp4:vp9_x48_200k:opus_48k"];
  const stream: OutputOptions = { format: "httpstream", params: { dash: { path: "d" }, variants } };
  const requests = [
    stream,
    ...["mp4:hevc_400k", "webm:vp9", "mp4:av1", "mp4:::quality=3,maxrate=300k"].map((format) => ({ format })),
  ];
  const both = await makeBoth(path.join(folder, "b.mp4"), requests, SPLITS, (argv) => [...argv]);
  for (const [at, { files, stream }] of both.whole.outputs.entries()) {
    const tracks = stream?.tracks.filter(({ kind }) => kind === "video") ?? [];
    for (const { fmp4 } of stream?.tracks.filter(({ kind }) => kind === "audio") ?? []) {
      const { whole, joined } = await lookAt(both, at, ({ folder }) => path.join(folder, fmp4 ?? ""));
      expect(joined.audio).toBe(whole.audio);
    }
    for (const file of [...files, ...tracks.map(({ fmp4 }) => fmp4 ?? "")]) {
      const { whole, joined } = await lookAt(both, at, ({ folder }) => path.join(folder, file));
      expectTimes(timesOf(joined), timesOf(whole));
      if (stream) expect(keyframes(joined)).toEqual(keyframes(whole));
    }
  }
});
