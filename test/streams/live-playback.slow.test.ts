// A stream that hls.js and dash.js play in a browser while it is encoded, and to its end and back without a reload.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { launchChromium } from "../players/chromium.ts";
import { openPlayback } from "../players/play.ts";
import type { PlayReport } from "../players/play-report.ts";
import { type PlayerSite, startPlayerSite } from "../players/player-site.ts";
import { type SourceServer, startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { makeSlowFfmpeg } from "./slow-ffmpeg.ts";
import { makeStreamClip, STREAM_CLIPS } from "./stream-clips.ts";

const CLIP = "video.mp4";
const { seconds: SECONDS } = STREAM_CLIPS[CLIP];
/** Faster than it is played, so that players never have to wait for the encoder. */
const SPEED = 1.2;
/** What players report of a busy machine, see stream-playback.test.ts. */
const HARMLESS = ["aborted", "fragmentLoadingAbandoned", "bufferAppendNoProgress", "waiting", "bufferStalledError"];

let folder: string;
let browser: Browser;
let site: PlayerSite;
let sources: SourceServer;
let stack: TestStack;
let slow: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "copra-live-"));
  slow = await makeSlowFfmpeg(folder, SPEED);
  Object.assign(process.env, slow);
  sources = await startSourceServer(folder);
  site = await startPlayerSite();
  browser = await launchChromium();
  stack = await startTestStack();
});
afterAll(async () => {
  for (const name of Object.keys(slow)) delete process.env[name];
  await browser?.close();
  await stack?.stop();
  await site?.close();
  await sources?.close();
  rmSync(folder, { recursive: true, force: true });
});

type Live = { readonly hls: string; readonly dash: string; readonly seconds: number };

async function outputOf(id: string): Promise<{ live?: Live; status: string }> {
  const { body } = await stack.request("GET", `/jobs/${id}`);
  return (body as { outputs: { live?: Live; status: string }[] }).outputs[0] ?? { status: "none" };
}

it("plays from its start while it is encoded, and to its end without a reload", async () => {
  const source = await makeStreamClip(CLIP, folder);
  writeFileSync(join(folder, "cues.srt"), "1\n00:00:05,000 --> 00:00:07,000\nOver the line\n");
  const { id } = await stack.submit({
    input: { url: sources.urlOf(source) },
    outputs: {
      httpstream: {
        ...{ path: "live", hls: { path: "ts" }, dash: { path: "fmp4" }, live_playlist: true, segment_duration: 2 },
        ...{ variants: ["mp4:240p", "mp4:x:64k"], thumbnails: true },
        subtitles: [{ url: sources.urlOf("cues.srt"), language: "de", name: "Deutsch" }],
      },
    },
  });
  const { live } = await vi.waitFor(
    async () => {
      const output = await outputOf(id);
      expect(output.live).toBeDefined();
      return output;
    },
    { timeout: 60_000, interval: 100 },
  );
  const caching = (await fetch(live?.hls ?? "")).headers.get("cache-control");
  expect(caching).toBe("no-cache");

  const play = async (url: string): Promise<PlayReport> => {
    const player = await openPlayback(browser, site, url);
    expect(player.subtitles).toEqual([{ language: "de", name: "Deutsch" }]);
    await player.playTo(0.5);
    expect((await outputOf(id)).status).not.toBe("httpstream.packaged");
    await player.playTo(Number.POSITIVE_INFINITY);
    for (const time of [3.1, SECONDS - 0.5]) expect(Math.abs((await player.seek(time)).time - time)).toBeLessThan(0.2);
    const report = await player.report();
    await player.close();
    return report;
  };
  const reports = await Promise.all([live?.hls ?? "", live?.dash ?? ""].map(play));
  for (const { frames, faults, buffered } of reports) {
    const [first] = frames;
    expect(first?.code).toBeLessThan(0.2);
    const shift = (first?.time ?? 0) - (first?.code ?? 0);
    expect(frames.filter(({ time, code }) => !(Math.abs(time - (code ?? Number.NaN) - shift) <= 0.003))).toEqual([]);
    expect(faults.filter(({ what, fatal }) => fatal || !HARMLESS.includes(what))).toEqual([]);
    expect(buffered).toHaveLength(1);
  }
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  expect(await outputOf(id)).not.toHaveProperty("live");
});
