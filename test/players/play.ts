// Plays a package with hls.js or dash.js in a real browser, step by step.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import * as z from "zod";
import { PATIENCE_MS } from "../patience-ms.ts";
import type { Stage } from "./page/stage.ts";
import { Cue, type Fault, Frame, Opened, PlayReport } from "./play-report.ts";
import type { PlayerSite } from "./player-site.ts";

/** The page's `stage`, for code that runs in the page. */
declare const stage: Stage;

/** PLAYER_LOG=1 writes the browser's console to stderr and enables hls.js logs. */
const LOGS = process.env.PLAYER_LOG === "1";

export type Playback = Opened & {
  /** Plays until `seconds` of the video (may be Infinity), at `rate` times its speed. */
  playTo(seconds: number, rate?: number): Promise<void>;
  pause(): Promise<void>;
  /** Seeks and returns the frame that is on the screen afterwards. */
  seek(seconds: number): Promise<Frame>;
  /** Plays this level, by its index in `levels`, from the next segment (`played`) or at once (`dropped`). */
  force(level: number, buffered: "dropped" | "played"): Promise<void>;
  /** The name of the audio track that plays. */
  playingAudio(): Promise<string>;
  /** Selects a track by its index in `audio`. */
  selectAudio(track: number): Promise<void>;
  /** Selects the track with video of this height. */
  selectVideo(height: number): Promise<void>;
  /** Selects a track by its index in `subtitles`; null disables subtitles. */
  selectSubtitles(track: number | null): Promise<void>;
  /** Shows the captions in the video's frames; returns the names of their channels. */
  showCaptions(): Promise<string[]>;
  /** The cues on the screen. */
  cues(): Promise<Cue[]>;
  screenshot(path: string): Promise<void>;
  /** All events so far, with problems from the browser's console and requests. */
  report(): Promise<PlayReport>;
  close(): Promise<void>;
};

/**
 * Opens a manifest (.mpd) in dash.js, or a playlist in hls.js. Rejects when the player gives up, or does not complete
 * a step.
 */
export async function openPlayback(browser: Browser, site: PlayerSite, url: string): Promise<Playback> {
  const kind = url.endsWith(".mpd") ? "dash" : "hls";
  const page = await browser.newPage({ viewport: { width: 640, height: 360 } });
  const complaints = listen(page);
  const report = async (): Promise<PlayReport> => {
    const { faults, ...played } = PlayReport.parse(await page.evaluate(() => stage.report()));
    return { ...played, faults: [...faults, ...complaints] };
  };
  const step = <T>(what: string, carriedOut: Promise<T>): Promise<T> => within(what, carriedOut, report);
  await page.goto(`${site.origin}/${LOGS ? "?log" : ""}`);
  const opened = await step(
    "open",
    page.evaluate(([k, u]) => stage.open(k, u), [kind, site.through(url)] as const),
  );
  return {
    ...Opened.parse(opened),
    playTo: (seconds, rate = 1) =>
      step(
        `playTo ${seconds}`,
        page.evaluate(([s, r]) => stage.playTo(s, r), [seconds, rate] as const),
      ),
    pause: () => page.evaluate(() => stage.pause()),
    seek: async (seconds) =>
      Frame.parse(
        await step(
          `seek ${seconds}`,
          page.evaluate((s) => stage.seek(s), seconds),
        ),
      ),
    force: (level, buffered) => page.evaluate(([l, b]) => stage.force(l, b), [level, buffered] as const),
    playingAudio: () => page.evaluate(() => stage.playingAudio()),
    selectAudio: (track) => page.evaluate((t) => stage.selectAudio(t), track),
    selectVideo: (height) => page.evaluate((h) => stage.selectVideo(h), height),
    selectSubtitles: (track) => page.evaluate((t) => stage.selectSubtitles(t), track),
    showCaptions: async () => z.array(z.string()).parse(await page.evaluate(() => stage.showCaptions())),
    cues: async () => z.array(Cue).parse(await page.evaluate(() => stage.cues())),
    screenshot: async (path) => void (await page.screenshot({ path })),
    report,
    close: () => page.close(),
  };
}

/** Problems that the page itself cannot see. */
function listen(page: Page): Fault[] {
  const complaints: Fault[] = [];
  const add = (what: string, detail: string): void => void complaints.push({ at: -1, what, detail, fatal: false });
  page.on("console", (message) => {
    if (LOGS) console.error(message.text());
    if (["error", "warning"].includes(message.type())) add(`console ${message.type()}`, message.text());
  });
  page.on("pageerror", (error) => add("exception", error.message));
  page.on("response", (response) => {
    if (response.status() >= 400) add(`HTTP ${response.status()}`, response.url());
  });
  return complaints;
}

/** The error of a late step has the state of the player. */
async function within<T>(what: string, carriedOut: Promise<T>, report: () => Promise<PlayReport>): Promise<T> {
  const patience = new AbortController();
  const late = sleep(PATIENCE_MS, null, { signal: patience.signal }).then(async (): Promise<never> => {
    const { frames, ...state } = await report();
    const last = JSON.stringify({ ...state, frames: frames.slice(-3) });
    throw new Error(`The player did not ${what} within ${PATIENCE_MS} ms: ${last}`);
  });
  return Promise.race([carriedOut, late]).finally(() => patience.abort());
}
