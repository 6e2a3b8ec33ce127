// Checks that a node learns the same from the outline of a source as from the whole source.
import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { everyNth } from "../../testing/few.ts";
import { makeClip, tested } from "../../testing/plan-runs.ts";
import { closeServers, sendRange, serve } from "../../testing/range-server.ts";
import { SourceFile } from "../fetch/source-file.ts";
import { readFrameIndex } from "../frame-index/frame-index.ts";
import type { LocalFile } from "../frame-index/run-packet-listing.ts";
import { probeSource } from "../probe/probe-source.ts";
import { fetchOutline } from "./fetch-outline.ts";

const { ffprobe } = tested;
const never = new AbortController().signal;
/** Much of it is noise, so that the first 5 MB, which programs read, are a small part. */
const noisy = (rate: string, seconds = 24): string =>
  `-f lavfi -i testsrc2=s=320x180:r=${rate}:d=${seconds},noise=alls=80:allf=t`;
const h264 = "-c:v libx264 -preset ultrafast -qp 8 -pix_fmt yuv420p -g 60";
const tone = "-f lavfi -i sine=d=24 -c:a aac";

/** A clip precedes the clips that are made from it. */
const CLIPS = {
  "base.mp4": `${noisy("30000/1001")} ${tone} ${h264} -bf 3 -b_strategy 0`,
  "faststart.mp4": "-i base.mp4 -c copy -movflags +faststart",
  "edited.mp4": "-ss 3.3 -i base.mp4 -c copy",
  "late.mp4": "-itsoffset 0.7 -i base.mp4 -i base.mp4 -map 0:v -map 1:a -c copy",
  "late-audio.mp4": "-itsoffset 1.5 -i base.mp4 -i base.mp4 -map 1:v -map 0:a -c copy",
  "rotated.mov": "-display_rotation 90 -i base.mp4 -c copy",
  "timecode.mov": "-i base.mp4 -c copy -timecode 01:00:00:00",
  "uneven.mp4": `${noisy("30")} -vf select='not(between(mod(t\\,1)\\,0.25\\,0.5))' -fps_mode vfr ${h264}`,
  "open-gop.mp4": `${noisy("25")} ${h264} -bf 2 -x264-params open-gop=1:bframes=2`,
  "refresh.mp4": `${noisy("25")} ${h264} -x264-params intra-refresh=1`,
  "hevc.mp4": `${noisy("25", 10)} -c:v libx265 -preset ultrafast -x265-params log-level=none:qp=4:keyint=25`,
  "vp9.mp4": `${noisy("25", 12)} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -lag-in-frames 25 -b:v 20M -g 50`,
  "av1.mp4": `${noisy("25", 12)} -c:v libsvtav1 -preset 12 -crf 5 -g 50`,
  "intra.mov": `${noisy("25", 20)} -c:v prores`,
  // Without an outline.
  "pieces.mp4": "-i base.mp4 -c copy -movflags +frag_keyframe+empty_moov+default_base_moof",
  "base.mkv": "-i base.mp4 -c copy",
  "ac3.mp4": "-i base.mp4 -c:v copy -c:a ac3",
  "small.mp4": "-t 1 -i base.mp4 -c copy",
} as const;
type Clip = keyof typeof CLIPS;

const folder = fileFolder();
let origin: string;
beforeAll(async () => {
  const used = new Set<string>([
    ...everyNth(3, WITH_OUTLINE),
    ...WITHOUT_OUTLINE.map(([name]) => name),
    "base.mp4",
    "faststart.mp4",
  ]);
  for (const [name, arguments_] of Object.entries(CLIPS)) if (used.has(name)) await makeClip(folder, name, arguments_);
  await writeFile(join(folder, "truncated.mp4"), await readFile(join(folder, "faststart.mp4")));
  await truncate(join(folder, "truncated.mp4"), 12_000_000);
  const server = await serve(async (request, response) =>
    sendRange(await readFile(join(folder, request.url ?? "")), request, response),
  );
  origin = server.origin;
});
afterAll(async () => {
  closeServers();
});

let outlines = 0;
const outlineOf = async (name: string) => {
  const path = join(folder, `outline-${++outlines}`);
  const pieces = [{ url: `${origin}/${name}`, sizeBytes: null }];
  const file = await SourceFile.open({ path, pieces, allow: "loopback", maxBytes: 1e9 });
  return fetchOutline(file, { maxBytes: 1e9, signal: never }).finally(() => file.close());
};

async function inspected(file: LocalFile) {
  const { streams, format } = await probeSource(ffprobe, file, never);
  const probe = { streams, format: { ...format, filename: "" } };
  const track = chooseTracks(probe).video?.streamIndex ?? 0;
  return { probe, index: await readFrameIndex(ffprobe, file, track, never) };
}

const WITH_OUTLINE: readonly Clip[] = [
  "base.mp4",
  "faststart.mp4",
  "edited.mp4",
  "late.mp4",
  "late-audio.mp4",
  "rotated.mov",
  "timecode.mov",
  "uneven.mp4",
  "open-gop.mp4",
  "refresh.mp4",
  "hevc.mp4",
  "vp9.mp4",
  "av1.mp4",
  "intra.mov",
];

it.each(everyNth(3, WITH_OUTLINE))("finds the same probe and the same frames in a part of %s", async (name) => {
  const outline = await outlineOf(name);
  if (!outline) throw new Error("It has no outline");
  const { size } = await stat(join(folder, name));
  expect(outline.source).toMatchObject({ sizeBytes: size, validator: '"v1"' });
  expect(outline.readBytes).toBeLessThan(size / 2);
  const whole = await inspected({ path: join(folder, name) });
  expect(await inspected({ path: outline.path, isOutline: true })).toEqual(whole);
  expect(whole.index.ok).toBe(true);
});

const WITHOUT_OUTLINE: readonly [Clip | "truncated.mp4", string][] = [
  ["pieces.mp4", "is fragmented"],
  ["base.mkv", "is of another format"],
  ["ac3.mp4", "has a codec whose packets are parsed"],
  ["small.mp4", "is small"],
  ["truncated.mp4", "is truncated"],
];

it.each(WITHOUT_OUTLINE)("makes no outline of %s, which %s", async (name) => {
  expect(await outlineOf(name)).toBeNull();
});
