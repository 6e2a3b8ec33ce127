// Streams in several codecs from the real system, whole and in chunks: their files, and their playback in a browser.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { launchChromium } from "../players/chromium.ts";
import { openPlayback } from "../players/play.ts";
import { complaintsOf, misplaced, shiftOf } from "../players/play-report.ts";
import { type PlayerSite, startPlayerSite } from "../players/player-site.ts";
import { startSourceServer } from "../services/source-server.ts";
import { sharedStack } from "../stack.ts";
import {
  alignmentFaults,
  bandwidthFaults,
  clockFaults,
  fileFaults,
  keyframeFaults,
  lengthFaults,
  segmentFaults,
} from "./stream-checks.ts";
import { makeStreamClip, STREAM_CLIPS } from "./stream-clips.ts";
import { readPackage, type StreamPackage } from "./stream-package.ts";

const CLIP = "small.mp4";
/** Each codec has its own height, by which frames on the screen name it. No browser here decodes HEVC. */
const VARIANTS = ["mp4:x144", "mp4:vp9_x192", "mp4:av1_x240", "mp4:hevc_x120", "mp4:x:opus_64k"];
const HEIGHTS = [144, 192, 240];
const PACKAGES = { hls: { path: "hls", segments: "fmp4" }, dash: { path: "dash", hlsfmp4: true } };

const stack = sharedStack();
const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let browser: Browser;
let site: PlayerSite;

const CLOCK = { codeAtStart: 0, audioFrom: 0, ...STREAM_CLIPS[CLIP] };
const urlOf = (path: string): string => `${stack.s3.endpoint}/${stack.s3.bucket}/${path}`;

beforeAll(async () => {
  site = await startPlayerSite();
  browser = await launchChromium();
  const params = { ...PACKAGES, path: "codecs", variants: VARIANTS, thumbnails: true };
  const input = { url: sources.urlOf(await makeStreamClip(CLIP, folder)) };
  const { id } = await stack.submit({ input, outputs: { httpstream: params } });
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

const ENTRIES = ["hls/master.m3u8", "dash/master.m3u8", "dash/master.mpd"];

it.each(ENTRIES)("%s lists complete tracks: keyframes, times, bit rates", async (entry) => {
  const stream = await readPackage(urlOf(`codecs/${entry}`));
  expect(stream.tracks).toHaveLength(6);
  expect(await fileFaults(stream.files, [stream.entry])).toEqual([]);
  expect([alignmentFaults(stream), lengthFaults(stream, CLOCK)]).toEqual([[], []]);
  expect(await bandwidthFaults(stream)).toEqual([]);
  for (const track of stream.tracks) {
    expect([await segmentFaults(track), await keyframeFaults(track)]).toEqual([[], []]);
    expect(await clockFaults(track, CLOCK)).toEqual([]);
  }
});

/** CODECS of each variant of a master playlist, or of each representation. */
const codecsOf = async (entry: string): Promise<string[]> =>
  [...(await (await fetch(urlOf(`codecs/${entry}`))).text()).matchAll(/(?<=codecs=")[^"]+/gi)].map(String);

it.each(ENTRIES)("browsers know the codecs of %s", async (entry) => {
  const page = await browser.newPage();
  const codecs = await codecsOf(entry);
  const supported = await page.evaluate(
    (all) => all.filter((each) => MediaSource.isTypeSupported(`video/mp4; codecs="${each}"`)),
    codecs,
  );
  expect(codecs.length).toBeGreaterThan(5);
  expect(supported).toEqual(codecs.filter((each) => !each.includes("hvc1")));
  // Streams of other tests have these.
  const others = ["fLaC", "vp09.02.21.10.01.09.16.09.00", "av01.0.01M.10.0.110.09.16.09.0"];
  const known = (all: string[]) => all.filter((each) => MediaSource.isTypeSupported(`video/mp4; codecs="${each}"`));
  expect(await page.evaluate(known, others)).toEqual(others);
  await page.close();
});

it.each(ENTRIES.slice(0, 2))(
  "hls.js plays and switches between H.264, VP9 and AV1 with AAC and Opus: %s",
  async (entry) => {
    const player = await openPlayback(browser, site, urlOf(`codecs/${entry}`));
    expect(new Set(player.levels.map(({ height }) => height))).toEqual(new Set(HEIGHTS));
    let end = 0;
    for (const level of player.levels.keys()) {
      await player.force(level, "dropped");
      end += 2;
      await player.playTo(end);
      const { height } = player.levels[level] ?? {};
      await vi.waitFor(async () => expect((await player.seek(end)).height).toBe(height));
    }
    await player.playTo(Number.POSITIVE_INFINITY, 4);
    const played = await player.report();
    expect([played.ended, complaintsOf(played)]).toEqual([true, []]);
    expect(misplaced(played.frames, shiftOf(played))).toEqual([]);
    expect(played.decodedAudioBytes).toBeGreaterThan(5000);
    await player.close();
  },
);

it("dash.js starts with AV1, and switches to VP9, H.264, and between AAC and Opus", async () => {
  const player = await openPlayback(browser, site, urlOf("codecs/dash/master.mpd"));
  expect(player.levels.map(({ id }) => id)).toEqual(["240p-av1"]);
  expect(player.audio).toHaveLength(2);
  let end = 1.5;
  await player.playTo(end);
  expect((await player.seek(end)).height).toBe(240);
  for (const [track, height] of [192, 144].entries()) {
    await player.selectVideo(height);
    await player.selectAudio(track);
    end += 3;
    await player.playTo(end);
    await vi.waitFor(async () => expect((await player.seek(end)).height).toBe(height));
  }
  await player.playTo(Number.POSITIVE_INFINITY, 4);
  const played = await player.report();
  expect([played.ended, complaintsOf(played)]).toEqual([true, []]);
  expect(misplaced(played.frames, 0)).toEqual([]);
  await player.close();
});

const LONG = { seconds: 70, frameSeconds: 1 / 12, codeAtStart: 0, audioFrom: 0 };

it("a stream whose chunks are encoded by several nodes while it plays has the tracks of a whole encode", async () => {
  const clip = await makeLongClip(folder, LONG.seconds, "160x90", 12);
  const variants = ["mp4:x90", "mp4:vp9_x90", "mp4:av1_x90", "mp4:x:opus_64k"];
  const make = async (path: string, params: object, settings: object): Promise<StreamPackage[]> => {
    const outputs = { httpstream: { ...PACKAGES, path, variants, ...params } };
    const { id } = await stack.submit({ input: { url: sources.urlOf(clip) }, outputs, settings });
    expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
    return Promise.all(ENTRIES.map((entry) => readPackage(urlOf(`${path}/${entry}`))));
  };
  const whole = await make("whole", {}, {});
  const chunked = await make("chunked", { live_playlist: true }, { ultrafast: true });
  const times = ({ tracks }: StreamPackage) => tracks.map(({ segments }) => segments.map(({ start }) => start));
  for (const [at, stream] of chunked.entries()) {
    expect(times(stream)).toEqual(times(whole[at] ?? stream));
    expect([alignmentFaults(stream), lengthFaults(stream, LONG)]).toEqual([[], []]);
    expect(await bandwidthFaults(stream)).toEqual([]);
    for (const track of stream.tracks) {
      expect([await segmentFaults(track), await clockFaults(track, LONG)]).toEqual([[], []]);
    }
  }
});
