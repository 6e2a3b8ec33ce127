// Streams in several codecs from the real system: playback in a browser, and growing playlists.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { launchChromium } from "../players/chromium.ts";
import { openPlayback, type Playback } from "../players/play.ts";
import { complaintsOf, misplaced, shiftOf } from "../players/play-report.ts";
import { type PlayerSite, startPlayerSite } from "../players/player-site.ts";
import { startSourceServer } from "../services/source-server.ts";
import { sharedStack } from "../stack.ts";
import { alignmentFaults, bandwidthFaults, lengthFaults } from "./stream-checks.ts";
import { makeStreamClip } from "./stream-clips.ts";
import { readPackage, type StreamPackage } from "./stream-package.ts";

const PACKAGES = { hls: { path: "hls", segments: "fmp4" }, dash: { path: "dash" } };
const stack = sharedStack();
const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let browser: Browser;
let site: PlayerSite;
const urlOf = (path: string): string => `${stack.s3.endpoint}/${stack.s3.bucket}/${path}`;

async function makeStream(clip: string, params: object): Promise<void> {
  const outputs = { httpstream: { ...PACKAGES, ...params } };
  const { id } = await stack.submit({ input: { url: sources.urlOf(clip) }, outputs });
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
}

beforeAll(async () => {
  site = await startPlayerSite();
  browser = await launchChromium();
  // Each codec has its own height, by which frames on the screen name it.
  const variants = ["mp4:x144", "mp4:vp9_x192", "mp4:av1_x240", "mp4:x:opus_64k"];
  await makeStream(await makeStreamClip("small.mp4", folder), { path: "codecs", variants, thumbnails: true });
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function endsWell(player: Playback, shift?: number): Promise<void> {
  await player.playTo(Number.POSITIVE_INFINITY, 4);
  const played = await player.report();
  expect([played.ended, complaintsOf(played)]).toEqual([true, []]);
  expect(misplaced(played.frames, shift ?? shiftOf(played))).toEqual([]);
  expect(played.decodedAudioBytes).toBeGreaterThan(5000);
  await player.close();
}

const shows = (player: Playback, at: number, height: number | undefined): Promise<void> =>
  vi.waitFor(async () => expect((await player.seek(at)).height).toBe(height));

// By itself, hls.js stays with one codec of audio, and resets its buffers if a test forces another.
it.each([
  ["AAC", 0],
  ["Opus", 1],
])("hls.js plays and switches between H.264, VP9 and AV1 with %s", async (_, audio) => {
  const player = await openPlayback(browser, site, urlOf("codecs/hls/master.m3u8"));
  expect(new Set(player.levels.map(({ height }) => height))).toEqual(new Set([144, 192, 240]));
  for (const [at, { height }] of player.levels.entries()) {
    if (at % 2 !== audio) continue;
    await player.force(at, "dropped");
    await player.playTo(at + 1);
    await shows(player, at + 1, height);
  }
  await endsWell(player);
});

it("dash.js starts with AV1, and switches to VP9, H.264, and between AAC and Opus", async () => {
  const player = await openPlayback(browser, site, urlOf("codecs/dash/master.mpd"));
  expect([player.levels.map(({ id }) => id), player.audio.length]).toEqual([["240p-av1"], 2]);
  await player.playTo(1.5);
  await shows(player, 1.5, 240);
  for (const [at, height] of [192, 144].entries()) {
    await player.selectVideo(height);
    await player.selectAudio(at);
    await player.playTo(at * 2 + 4);
    await shows(player, at * 2 + 4, height);
  }
  await endsWell(player, 0);
});

it.each(["hls/master.m3u8", "dash/master.mpd"])("browsers know the codecs of %s", async (entry) => {
  const text = await (await fetch(urlOf(`codecs/${entry}`))).text();
  // The last three are in streams of other tests.
  const others = ["fLaC", "vp09.02.21.10.01.09.16.09.00", "av01.0.01M.10.0.110.09.16.09.0"];
  const codecs = [...[...text.matchAll(/(?<=codecs=")[^"]+/gi)].map(String), ...others];
  const page = await browser.newPage();
  const known = (all: string[]) => all.filter((each) => MediaSource.isTypeSupported(`video/mp4; codecs="${each}"`));
  expect(await page.evaluate(known, codecs)).toEqual(codecs);
  expect(codecs.length).toBeGreaterThan(7);
});

it("playlists that grow during the encode end with the tracks of a stream that is stored at its end", async () => {
  const clock = { seconds: 70, frameSeconds: 1 / 12, codeAtStart: 0, audioFrom: 0 };
  const clip = await makeLongClip(folder, clock.seconds, "160x90", 12);
  const common = { variants: ["mp4:x90", "mp4:vp9_x90", "mp4:av1_x90", "mp4:x:opus_64k"] };
  await makeStream(clip, { ...common, path: "stored" });
  await makeStream(clip, { ...common, path: "live", live_playlist: true });
  const read = (path: string): Promise<StreamPackage> => readPackage(urlOf(`${path}/hls/master.m3u8`));
  const [stored, live] = [await read("stored"), await read("live")];
  const starts = ({ tracks }: StreamPackage) => tracks.map(({ segments }) => segments.map(({ start }) => start));
  expect(starts(live)).toEqual(starts(stored));
  expect([alignmentFaults(live), lengthFaults(live, clock), await bandwidthFaults(live)]).toEqual([[], [], []]);
});
