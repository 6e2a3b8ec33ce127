// Measures how soon a stream plays in a browser while it is encoded: `node local/bootstrap.mjs bench/live.ts [seconds
// of video] [size] [seconds of a segment] [ultrafast]`, for example `180 640x360 6`, prints a row for each player.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveLoopback } from "../local/demo/loopback-server.ts";
import { sendFile } from "../local/demo/send-file.ts";
import { makeGenerated } from "../test/clip-cache.ts";
import { launchChromium } from "../test/players/chromium.ts";
import { openPlayback } from "../test/players/play.ts";
import { startPlayerSite } from "../test/players/player-site.ts";
import { startTestStack, type TestStack } from "../test/stack.ts";
import { attemptsOf, stagesOf } from "./ultrafast/timeline.ts";

type Live = { readonly hls: string; readonly dash: string; readonly seconds: number };
type Viewed = { readonly status: string; readonly progress: string; readonly live: Live | undefined };

async function viewOf(stack: TestStack, id: string): Promise<Viewed> {
  const { body } = await stack.request("GET", `/jobs/${id}`);
  const { status, progress, outputs } = body as Omit<Viewed, "live"> & { outputs: { live?: Live }[] };
  return { status, progress, live: outputs[0]?.live };
}

const [seconds = "180", size = "640x360", segment = "6", mode = ""] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "copra-live-"));
const source = join(folder, "source.mp4");
const pattern = `testsrc2=size=${size}:rate=25,noise=alls=8:allf=t`;
await makeGenerated(
  [
    ...["-f", "lavfi", "-i", pattern, "-f", "lavfi", "-i", "sine=frequency=330"],
    ...["-t", seconds, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "22", "-pix_fmt", "yuv420p", "-c:a", "aac"],
  ],
  source,
);
const server = await serveLoopback((request, response) => void sendFile(request, response, source));
const site = await startPlayerSite();
const browser = await launchChromium();
const stack = await startTestStack({ nodes: mode === "ultrafast" ? 2 : 1 });

const startedAt = performance.now();
const since = (): number => Math.round((performance.now() - startedAt) / 100) / 10;

/** Plays to the end of the stream, and then seeks in it. */
async function play(kind: "hls" | "dash", url: string, opened: Viewed): Promise<object> {
  const player = await openPlayback(browser, site, url);
  await player.playTo(0.1);
  const firstFrame = since();
  const early = await player.report();
  for (let at = 10; at < Number(seconds); at += 10) await player.playTo(at);
  await player.playTo(Number.POSITIVE_INFINITY);
  const back = await player.seek(Number(seconds) / 3);
  const { ended, faults, frames } = await player.report();
  await player.close();
  return {
    player: kind,
    firstFrame,
    startsAt: early.frames[0]?.time,
    jobAt: opened.progress,
    ended: ended || frames.some(({ time }) => time > Number(seconds) - 0.2),
    seekedTo: Math.round(back.time),
    stalls: faults.filter(({ what }) => what === "waiting").map(({ at }) => Math.round(at)),
    faults: faults.filter(({ what }) => what !== "waiting").map(({ what }) => what),
  };
}

try {
  const { id } = await stack.submit({
    input: { url: `${server.origin}/source.mp4` },
    outputs: {
      httpstream: {
        hls: { path: "ts" },
        dash: { path: "fmp4" },
        live_playlist: true,
        segment_duration: Number(segment),
      },
    },
    settings: { ultrafast: mode === "ultrafast" },
  });
  let viewed = await viewOf(stack, id);
  for (; !viewed.live && viewed.status !== "job.completed"; viewed = await viewOf(stack, id)) await sleep(100);
  const { live } = viewed;
  if (!live) throw new Error("The job was complete before its stream could be played");
  console.log(`Playable after ${since()} s: ${live.seconds} s, job at ${viewed.progress}`);
  const done = stack.waitForJob(id, 3_600_000).then(({ status }) => console.log(`${status} after ${since()} s`));
  console.table(await Promise.all((["hls", "dash"] as const).map((kind) => play(kind, live[kind], viewed))));
  await done;
  if (mode === "ultrafast") {
    console.log(stagesOf(await attemptsOf(stack.api, stack.apiKey, id)));
    console.table(await attemptsOf(stack.api, stack.apiKey, id));
  }
  const puts = [...stack.log("s3").matchAll(/"method":"PUT","path":"([^"]+)"/g)].map(([, path = ""]) => path);
  const lists = puts.filter((path) => /\.(m3u8|mpd)$/.test(path));
  console.log(`${puts.length} PUTs, of which ${lists.length} of ${new Set(lists).size} playlists and manifests`);
} finally {
  await browser.close();
  await stack.stop();
  await site.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
