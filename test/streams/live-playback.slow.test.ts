// hls.js and dash.js play a stream in a browser during its encode, to its end and back without a reload.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { openPlayback, type Playback } from "../players/play.ts";
import { complaintsOf, misplaced, type PlayReport, shiftOf } from "../players/play-report.ts";
import { type LiveSystem, startLiveSystem } from "./live-system.ts";
import { makeStreamClip, STREAM_CLIPS } from "./stream-clips.ts";

const CLIP = "video.mp4";
const { seconds: SECONDS } = STREAM_CLIPS[CLIP];
/** Faster than playback, so that players never wait for the encoder. */
const SPEED = 1.2;

let system: LiveSystem;

beforeAll(async () => {
  system = await startLiveSystem(SPEED);
});
afterAll(() => system?.stop());

it("plays from its start during the encode, and to its end without a reload", async () => {
  const source = await makeStreamClip(CLIP, system.folder);
  await system.ffmpeg.hold();
  writeFileSync(join(system.folder, "cues.srt"), "1\n00:00:05,000 --> 00:00:07,000\nOver the line\n");
  const { id } = await system.stack.submit({
    input: { url: system.sources.urlOf(source) },
    outputs: {
      httpstream: {
        path: "live",
        hls: { path: "ts" },
        dash: { path: "fmp4" },
        live_playlist: true,
        segment_duration: 2,
        variants: ["mp4:240p", "mp4:x:64k"],
        thumbnails: true,
        subtitles: [{ url: system.sources.urlOf("cues.srt"), language: "de", name: "Deutsch" }],
      },
    },
  });
  const { live } = await vi.waitFor(
    async () => {
      const output = await system.outputOf(id);
      expect(output.live).toBeDefined();
      return output;
    },
    { interval: 100 },
  );
  const caching = (await fetch(live?.hls ?? "")).headers.get("cache-control");
  expect(caching).toBe("no-cache");

  const open = async (url: string): Promise<Playback> => {
    const player = await openPlayback(system.browser, system.site, url);
    expect(player.subtitles).toEqual([{ language: "de", name: "Deutsch" }]);
    await player.playTo(0.5);
    return player;
  };
  const players = await Promise.all([live?.hls ?? "", live?.dash ?? ""].map(open));
  expect((await system.outputOf(id)).status).not.toBe("httpstream.packaged");
  await system.ffmpeg.release();
  const playToEnd = async (player: Playback): Promise<PlayReport> => {
    await player.playTo(Number.POSITIVE_INFINITY);
    for (const time of [3.1, SECONDS - 0.5]) expect(Math.abs((await player.seek(time)).time - time)).toBeLessThan(0.2);
    const report = await player.report();
    await player.close();
    return report;
  };
  const reports = await Promise.all(players.map(playToEnd));
  for (const report of reports) {
    const { frames, buffered } = report;
    const [first] = frames;
    expect(first?.code).toBeLessThan(0.2);
    expect(misplaced(frames, shiftOf(report))).toEqual([]);
    expect(complaintsOf(report)).toEqual([]);
    expect(buffered).toHaveLength(1);
  }
  expect(await system.stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  expect(await system.outputOf(id)).not.toHaveProperty("live");
});
