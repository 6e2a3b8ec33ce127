// A system whose nodes encode so slowly that a stream can be played meanwhile, and a browser that plays it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchChromium } from "../players/chromium.ts";
import { type PlayerSite, startPlayerSite } from "../players/player-site.ts";
import { type SourceServer, startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { makeSlowFfmpeg, type SlowFfmpeg } from "./slow-ffmpeg.ts";

/** URLs of a stream that can be played before it is complete. */
export type Live = { readonly hls: string; readonly dash: string; readonly seconds: number };

export type LiveSystem = {
  /** The folder of the source server. */
  readonly folder: string;
  readonly browser: Browser;
  readonly site: PlayerSite;
  readonly sources: SourceServer;
  readonly stack: TestStack;
  readonly ffmpeg: SlowFfmpeg;
  /** The first output of a job. */
  outputOf(id: string): Promise<{ live?: Live; status: string }>;
  stop(): Promise<void>;
};

/** Each node encodes `runs` at `speed` times their playback speed at most. */
export async function startLiveSystem(
  speed: number,
  { runs = "streams", nodes = 1 }: { readonly runs?: "streams" | "chunks"; readonly nodes?: number } = {},
): Promise<LiveSystem> {
  const folder = mkdtempSync(join(tmpdir(), "copra-live-"));
  const ffmpeg = await makeSlowFfmpeg(folder, speed, runs);
  Object.assign(process.env, ffmpeg.env);
  const sources = await startSourceServer(folder);
  const site = await startPlayerSite();
  const browser = await launchChromium();
  const stack = await startTestStack({ nodes });
  return {
    folder,
    browser,
    site,
    sources,
    stack,
    ffmpeg,
    outputOf: async (id) => {
      const { body } = await stack.request("GET", `/jobs/${id}`);
      return (body as { outputs: { live?: Live; status: string }[] }).outputs[0] ?? { status: "none" };
    },
    stop: async () => {
      for (const name of Object.keys(ffmpeg.env)) delete process.env[name];
      await browser.close();
      await stack.stop();
      await site.close();
      await sources.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
