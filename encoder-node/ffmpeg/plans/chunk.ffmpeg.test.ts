// Films that are encoded in chunks and joined, beside the same films encoded in one piece.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StreamTrack } from "#shared/plan/streams/planned-stream.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { type Both, look, lossless, type Made, makeBoth, type Shown } from "../../testing/chunked-encodes.ts";
import { makeClip } from "../../testing/plan-runs.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "chunk-runs-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What times may be off, in seconds. */
const EXACT = 0.0001;
const SECONDS = 8;
const CUTS = [1.9, 5.1];

const PICTURE = `-f lavfi -i testsrc2=s=96x64:d=${SECONDS}:r=`;
const SOUND = `-f lavfi -i sine=440:r=48000:d=${SECONDS}`;
const X264 = "-c:v libx264 -preset ultrafast -bf 2 -g 33";
const FAST = `${SOUND} ${X264} -c:a aac`;
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
  asks: readonly OutputOptions[];
};
const clip = (name: string, file: string, make: string, ...asks: OutputOptions[]): Clip => ({
  name,
  files: [[file, make]],
  asks,
});
const remade = (name: string, file: string, source: string, make: string, ...asks: OutputOptions[]): Clip => ({
  ...{ name, asks },
  files: [
    ["made.mp4", source],
    [file, make],
  ],
});

const CLIPS: readonly Clip[] = [
  clip("25", "a.mp4", `${PICTURE}25 ${FAST}`, MP4, SLOWER, STREAM),
  clip("29.97 of matroska, which rounds to milliseconds", "a.mkv", `${PICTURE}30000/1001 ${FAST}`, MP4, SLOWER, STREAM),
  clip("23.976", "a.mp4", `${PICTURE}24000/1001 ${FAST}`, STREAM, { format: "mov:x32:mp3" }),
  clip("59.94", "a.mp4", `${PICTURE}60000/1001 ${FAST}`, { format: "mkv" }, { format: "mp4:25fps" }),
  remade(
    "frames at any time, with a gap, the last of them for a second",
    "a.mp4",
    `${PICTURE}30 ${SOUND} ${UNEVEN} ${X264} -bf 0 -c:a aac`,
    "-i made.mp4 -c copy -bsf:v setts=pts=PTS:dts=DTS:duration=if(eq(NEXT_DTS\\,NOPTS)\\,1/TB\\,DURATION)",
    ...[MP4, SLOWER, STREAM],
  ),
  clip("MPEG-TS", "a.ts", `${PICTURE}25 ${FAST}`, MP4, { format: "mpegts:15fps" }, STREAM),
  remade(
    "MPEG-TS with sound that begins late, and a track before all others that nobody wants",
    "a.ts",
    `${PICTURE}25 ${FAST}`,
    "-itsoffset 0.37 -i made.mp4 -itsoffset 0.52 -i made.mp4 -i made.mp4 -map 0:v -map 1:a -map 2:a -c copy",
    ...[MP4, SLOWER],
  ),
  clip("open groups of pictures", "a.mkv", `${PICTURE}25 ${FAST} -bf 3 -x264-params open-gop=1`, MP4),
  remade("an edit list that cuts the beginning", "a.mp4", `${PICTURE}25 ${FAST}`, "-ss 0.5 -i made.mp4 -c copy", MP4),
  remade("turned by a quarter", "a.mp4", `${PICTURE}25 ${FAST}`, "-display_rotation 90 -i made.mp4 -c copy", MP4),
  clip(
    "interlaced",
    "a.mkv",
    `-f lavfi -i testsrc2=s=96x64:d=${SECONDS}:r=50,interlace ${FAST} -flags +ildct+ilme -x264-params tff=1`,
    { format: "mp4", params: { deinterlace: true } },
    { format: "mkv:15fps", params: { deinterlace: true } },
  ),
  clip("a picture that begins late", "a.mkv", `-itsoffset 0.613 ${PICTURE}25 ${FAST}`, MP4, SLOWER, STREAM),
  clip("other containers", "a.mp4", `${PICTURE}25 ${FAST}`, { format: "flv:h264:aac" }, { format: "avi:h264" }),
];

describe.each(CLIPS)("$name", ({ files, asks }) => {
  test("is the same film from chunks: frames, times, sound", async () => {
    for (const [name, make] of files) await makeClip(folder, name, make);
    const both = await makeBoth(path.join(folder, files.at(-1)?.[0] ?? ""), asks, CUTS, lossless);
    expect(both.joined.outputs).toEqual(both.whole.outputs);
    for (const [at, { files: made, stream }] of both.whole.outputs.entries()) {
      for (const file of made) expectSame(await lookAt(both, at, (of) => path.join(of.folder, file)), both, "video");
      for (const sheet of stream?.thumbnails?.files ?? []) {
        const sheets = [both.whole, both.joined].map(({ folder }) => readFile(path.join(folder, sheet)));
        expect(await sheets[1]).toEqual(await sheets[0]);
      }
      for (const track of stream?.tracks ?? []) {
        expectSame(await lookAt(both, at, ({ folder }) => path.join(folder, track.fmp4 ?? "")), both, track.name);
        expectSame(await lookAt(both, at, (of) => segmentsOf(of, track)), both, track.name);
      }
    }
  });
});

type Pair = { readonly output: number; readonly whole: Shown; readonly joined: Shown };

async function lookAt(both: Both, at: number, pathOf: (made: Made) => string | Promise<string>): Promise<Pair> {
  const [whole, joined] = await Promise.all([both.whole, both.joined].map(async (made) => look(await pathOf(made))));
  if (!whole || !joined) throw new Error("Nothing to look at");
  return { output: at, whole, joined };
}

/** All segments of MPEG-TS in one file. */
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
  expectTimes(
    joined.frames.map(({ seconds }) => seconds),
    whole.frames.map(({ seconds }) => seconds),
  );
  expect(joined.sound).toBe(whole.sound);
  expectTimes(joined.spans.flat(), whole.spans.flat(), EXACT, `${track} of ${output}`);
  const planned = chunks.map((tracks) => tracks.find((of) => of.output === output && of.track === track));
  // Keyframes of streams lie on their grid, whatever chunks there are.
  if (track !== "video") expect(keyframes(joined)).toEqual(keyframes(whole));
  for (const [at, chunk] of planned.entries()) {
    if (!chunk || !joined.isTimed) continue;
    const before = planned.slice(0, at).reduce((sum, of) => sum + (of?.frames ?? 0), 0);
    const [first, wanted] = [joined.frames[before], chunk.firstUs / 1e6];
    // Containers have a beginning of their own, or one of the film's.
    const shift = (joined.frames[0]?.seconds ?? 0) - (planned[0]?.firstUs ?? 0) / 1e6;
    expect(first?.isKey).toBe(true);
    expect(Math.abs((first?.seconds ?? 0) - shift - wanted)).toBeLessThan(0.001);
    const rest = joined.frames.length - before;
    if (at === planned.length - 1) expect(chunk.frames ?? rest).toBe(rest);
  }
}

const keyframes = ({ frames }: Shown): number[] => frames.flatMap(({ isKey }, at) => (isKey ? [at] : []));

function expectTimes(actual: readonly number[], wanted: readonly number[], within = EXACT, of = ""): void {
  expect(actual).toHaveLength(wanted.length);
  const errors = actual.map((time, at) => Math.abs(time - (wanted[at] ?? 0)));
  expect(Math.max(0, ...errors), of).toBeLessThan(within);
}

test("with the settings of every codec chunks have one header, the planned frames, and keyframes where the whole has them", async () => {
  await makeClip(folder, "b.mp4", `${PICTURE}30000/1001 ${FAST}`);
  const variants = ["mp4:x64_200k:48k", "mp4:hevc_x48:48k"];
  const stream: OutputOptions = { format: "httpstream", params: { dash: { path: "d" }, variants } };
  const asks = [
    stream,
    ...["mp4:hevc_400k", "webm:vp9", "mp4:av1", "mp4:::quality=3,maxrate=300k"].map((format) => ({ format })),
  ];
  const both = await makeBoth(path.join(folder, "b.mp4"), asks, CUTS, (argv) => [...argv]);
  for (const [at, { files, stream }] of both.whole.outputs.entries()) {
    const tracks = stream?.tracks.filter(({ kind }) => kind === "video") ?? [];
    for (const file of [...files, ...tracks.map(({ fmp4 }) => fmp4 ?? "")]) {
      const { whole, joined } = await lookAt(both, at, ({ folder }) => path.join(folder, file));
      expectTimes(
        joined.frames.map(({ seconds }) => seconds),
        whole.frames.map(({ seconds }) => seconds),
      );
      if (stream) expect(keyframes(joined)).toEqual(keyframes(whole));
    }
  }
});
