// A stream of several packages from the real system, played by hls.js and dash.js in a browser.
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { SLOW } from "../../encoder-node/testing/few.ts";
import { captionedClip } from "../../encoder-node/testing/jobs/captioned-clip.ts";
import { openWorkshop } from "../../encoder-node/testing/source-workshop.ts";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { launchChromium } from "../players/chromium.ts";
import { openPlayback, type Playback } from "../players/play.ts";
import { complaintsOf, misplaced, shiftOf } from "../players/play-report.ts";
import { type PlayerSite, startPlayerSite } from "../players/player-site.ts";
import { startSourceServer } from "../services/source-server.ts";
import { sharedStack } from "../stack.ts";
import { makeStreamClip, STREAM_CLIPS } from "./stream-clips.ts";

const CLIP = "small.mp4";
const { seconds: SECONDS, frameSeconds: FRAME } = STREAM_CLIPS[CLIP];
const HEIGHTS = [144, 192, 240];
/** Playback rate. If it is too fast, players omit frames, but misplace none. */
const RATE = 4;
const KEY = "00112233445566778899aabbccddeeff";
const CUES = [
  { start: 5, end: 7, text: "Over the line" },
  { start: 9, end: 10.5, text: "Näher" },
];

const stack = sharedStack();
const folder = fileFolder();
let browser: Browser;
let site: PlayerSite;
const sources = untilEnd(await startSourceServer(folder));
let textsId: string;

beforeAll(async () => {
  site = await startPlayerSite(Buffer.from(KEY, "hex"));
  browser = await launchChromium();
  const source = await makeStreamClip(CLIP, folder);
  const clock = (time: number): string => `00:00:${time.toFixed(3).padStart(6, "0")}`.replace(".", ",");
  const cues = CUES.map(({ start, end, text }, at) => `${at + 1}\n${clock(start)} --> ${clock(end)}\n${text}\n`);
  writeFileSync(join(folder, "cues.srt"), cues.join("\n"));
  const variants = HEIGHTS.map((height) => `mp4:x${height}`);
  const common = { variants: [...variants, "mp4:x:64k"] };
  const streams = await stack.submit({
    input: { url: sources.urlOf(source) },
    outputs: {
      httpstream: [
        {
          ...common,
          key: "open",
          path: "open",
          hls: { path: "ts" },
          dash: { path: "fmp4", hlsfmp4: true },
          subtitles: [{ url: sources.urlOf("cues.srt"), language: "de", name: "Deutsch" }],
        },
        {
          ...common,
          key: "muxed",
          path: "muxed",
          hls: { path: "ts", version: 3 },
          subtitles: [{ url: sources.urlOf("cues.srt"), language: "de", name: "Deutsch" }],
        },
        {
          ...common,
          key: "locked",
          path: "locked",
          hls: { path: "ts" },
          encryption: { key: KEY, key_uri: `${site.origin}/key` },
        },
      ],
    },
  });
  const slides = await stack.submit({
    input: { url: sources.urlOf(await makeStreamClip("slides.mkv", folder)) },
    outputs: { httpstream: { path: "slides", segment_duration: 3, hls: { path: "ts" }, variants: ["mp4:x144"] } },
  });
  const texts = await stack.submit({
    input: { url: sources.urlOf(await clipWithTexts(basename(source))) },
    outputs: {
      httpstream: {
        path: "texts",
        hls: { path: "ts" },
        dash: { path: "fmp4" },
        variants: ["mp4:x144"],
        subtitles: [{ from: "en" }, { from: "en", name: "Signs", forced: true }, { from: "de", kind: "captions" }],
      },
      srt: { path: "texts.srt", from: "de" },
    },
  });
  const languages = await stack.submit({
    input: { url: sources.urlOf(source) },
    outputs: {
      httpstream: {
        path: "languages",
        hls: { path: "ts" },
        dash: { path: "fmp4" },
        variants: ["mp4:x144", "mp4:x192:64k", "mp4:x:64k"],
        audio: [
          { from: 1, language: "de", offset: 0.5 },
          { from: 1, language: "en", default: true },
          { url: sources.urlOf(source), language: "en", role: "description", name: "Described", map: [[0.5, 0.5]] },
        ],
      },
    },
  });
  const captioned = await stack.submit({
    input: { url: sources.urlOf(basename(await captionedClip(openWorkshop(folder), "HELLO COPRA"))) },
    outputs: { httpstream: { path: "captioned", hls: { path: "ts" }, variants: ["mp4:64x"] } },
  });
  for (const { id } of [streams, slides, texts, languages, captioned])
    expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  textsId = texts.id;
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** The clip with text tracks in English and German. */
const clipWithTexts = (clip: string): Promise<string> =>
  openWorkshop(folder)
    .make(
      "texts.mkv",
      `-i ${clip} -i cues.srt -map 0 -map 1 -map 1 -c copy -metadata:s:s:0 language=eng -metadata:s:s:1 language=ger`,
    )
    .then((path) => basename(path));

const open = (path: string): Promise<Playback> =>
  openPlayback(browser, site, `${stack.s3.endpoint}/${stack.s3.bucket}/${path}`);

const shows = (player: Playback, text: string): Promise<void> =>
  vi.waitFor(async () => expect(await player.cues()).toMatchObject([{ text }]));

const TITLE = "%s plays to its end, switches, seeks and shows subtitles";
// In parallel, because the tests wait for the players.
it.concurrent.each([
  ["HLS with MPEG-TS", "open/ts/master.m3u8", 0.1],
  ["DASH", "open/fmp4/master.mpd", 0.002],
])(TITLE, playsWhole);
it.concurrent.each([
  ["HLS of version 3", "muxed/ts/master.m3u8", 0.1],
  ["HLS with fragmented MP4", "open/fmp4/master.m3u8", 0.1],
])(TITLE, SLOW, playsWhole);

async function playsWhole(_: string, path: string, maxShift: number): Promise<void> {
  const player = await open(path);
  expect(player.levels.map(({ height }) => height).toSorted((a, b) => a - b)).toEqual(HEIGHTS);
  expect(player.subtitles).toEqual([{ language: "de", name: "Deutsch" }]);
  expect(Math.abs(player.durationSeconds - SECONDS)).toBeLessThan(0.1);
  const level = (height: number): number => player.levels.findIndex((candidate) => candidate.height === height);

  await player.force(level(144), "dropped");
  await player.playTo(2, RATE);
  await player.force(level(240), "dropped");
  await player.playTo(6.5, RATE);
  await player.force(level(192), "played");
  await player.playTo(Number.POSITIVE_INFINITY, RATE);
  const played = await player.report();
  const shift = shiftOf(played);
  expect(played.ended).toBe(true);
  expect(complaintsOf(played)).toEqual([]);
  expect(shift).toBeGreaterThan(-0.002);
  expect(shift).toBeLessThan(maxShift);
  expect(misplaced(played.frames, shift)).toEqual([]);
  // The shown heights depend on the player's buffer. The loop below seeks in each height.
  expect(played.buffered).toHaveLength(1);
  expect(played.decodedAudioBytes).toBeGreaterThan(5000);

  for (const height of HEIGHTS) {
    await player.force(level(height), "dropped");
    for (const time of [12.3, 3.1, 6.02, SECONDS - 0.15]) {
      // Repeat until the player has dropped buffered data of other levels.
      const frame = await vi.waitFor(async () => {
        const frame = await player.seek(time);
        expect(frame.height, `seek to ${time}`).toBe(height);
        return frame;
      });
      expect(misplaced([frame], shift), `seek to ${time}`).toEqual([]);
      // At the start of a segment, a player without the previous segment goes to the first frame of this segment.
      expect(Math.abs(frame.time - time), `seek to ${time}`).toBeLessThan(FRAME + shift + 0.003);
    }
  }
  await player.selectSubtitles(0);
  await player.seek(5.5);
  await shows(player, "Over the line");
  const [cue] = await player.cues();
  expect(Math.abs((cue?.start ?? 0) - 5 - shift)).toBeLessThan(0.002);
  await player.seek(8.5);
  expect(await player.cues()).toEqual([]);
  await player.seek(9.7 + shift);
  await shows(player, "Näher");
  expect(complaintsOf(await player.report())).toEqual([]);
  await player.close();
}

it.concurrent("AES-128 plays to its end at the player's own choice of levels", async () => {
  const player = await open("locked/ts/master.m3u8");
  await player.playTo(Number.POSITIVE_INFINITY, 4);
  const played = await player.report();
  expect([played.ended, complaintsOf(played)]).toEqual([true, []]);
  expect(played.frames.length).toBeGreaterThan(5);
  expect(misplaced(played.frames, shiftOf(played))).toEqual([]);
  await player.close();
});

it.concurrent("a video of few frames plays to its end: MPEG-TS does not store the duration of a segment's last frame", async () => {
  const player = await open("slides/ts/master.m3u8");
  await player.playTo(Number.POSITIVE_INFINITY, 4);
  const played = await player.report();
  expect([played.ended, complaintsOf(played), played.buffered.length]).toEqual([true, [], 1]);
  expect([...new Set(played.frames.map(({ code }) => code))]).toEqual([0, 4, 8, 12]);
  await player.close();
});

it.concurrent.each(["texts/ts/master.m3u8", "texts/fmp4/master.mpd"])(
  "players list forced text and captions of the input, and show the text: %s",
  async (path) => {
    const player = await open(path);
    expect(player.subtitles).toEqual([
      { language: "en", name: "English" },
      { language: "en", name: "Signs", isForced: true },
      { language: "de", name: "Deutsch", isCaptions: true },
    ]);
    await player.selectSubtitles(2);
    await player.playTo(0.5);
    await player.pause();
    await player.seek(5.5);
    // dash.js keeps forced text beside the chosen track.
    await vi.waitFor(async () =>
      expect(await player.cues()).toContainEqual(expect.objectContaining({ text: "Over the line" })),
    );
    await player.close();
  },
);

it.concurrent.each([
  ["hls.js", "languages/ts/master.m3u8", ["Deutsch", "English", "Described"]],
  ["dash.js", "languages/fmp4/master.mpd", ["English", "Deutsch", "Described"]],
])("%s lists the audio tracks, starts with the default and switches while it plays", async (_, path, names) => {
  const player = await open(path);
  const languages = names.map((name) => ({ name, language: name === "Deutsch" ? "de" : "en" }));
  expect(player.audio).toEqual(languages);
  expect(await player.playingAudio()).toBe("English");
  await player.playTo(2, 2);
  await player.selectAudio(names.indexOf("Deutsch"));
  await player.playTo(6, 2);
  expect(await player.playingAudio()).toBe("Deutsch");
  await player.selectAudio(names.indexOf("Described"));
  await player.playTo(Number.POSITIVE_INFINITY, 4);
  expect(await player.playingAudio()).toBe("Described");
  const played = await player.report();
  expect([played.ended, complaintsOf(played)]).toEqual([true, []]);
  await player.close();
});

it.concurrent("a file of text has the type of videos, a URL, and metadata", async () => {
  const { outputs } = await stack.waitForJob(textsId);
  const url = `${stack.s3.endpoint}/${stack.s3.bucket}/texts.srt`;
  expect(outputs[1]).toMatchObject({ key: "srt", type: "video", status: "video.encoded", url });
  const { body } = await stack.request("GET", `/metadata/jobs/${textsId}/srt`);
  expect(body).toMatchObject({ metadata: { srt: { streams: [{ codec_name: "subrip" }], format: { filename: url } } } });
  expect(await (await fetch(url)).text()).toContain("Over the line");
});

it.concurrent("players list and show the captions in the frames of the source", async () => {
  const player = await open("captioned/ts/master.m3u8");
  await player.playTo(1.5);
  await player.pause();
  // A busy machine has played on meanwhile. The captions are visible from 1 to 3 s.
  await player.seek(1.5);
  await vi.waitFor(async () => expect(await player.showCaptions()).toEqual(["CC1"]));
  await shows(player, "HELLO COPRA");
  await player.close();
});
