/// <reference lib="dom" />
// The dashboard's player with the outputs of real jobs. The time code in the frames shows which frame is on the screen.
import { readFileSync } from "node:fs";
import type { FrameLocator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { fileFolder, untilEnd } from "../fixtures.ts";
import { BLOCKS, ROW, secondsOf } from "../players/time-code.ts";
import { startSourceServer } from "../services/source-server.ts";
import { startTestStack, type TestStack } from "../stack.ts";
import { makeSlowFfmpeg, type SlowFfmpeg } from "../streams/slow-ffmpeg.ts";
import { makeStreamClip, STREAM_CLIPS } from "../streams/stream-clips.ts";
import { accessibilityProblems, type DashboardBrowser, openDashboard } from "./browser.ts";

const CLIP = "video.mp4";
const { seconds: SECONDS, frameSeconds: FRAME } = STREAM_CLIPS[CLIP];

const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let stack: TestStack;
let dashboard: DashboardBrowser;
let slow: SlowFfmpeg;
/** Page that reads pixels of screenshots. */
let reader: Page;
/** The ids of a job with files and of a job with a stream that is encoded slowly. */
let files: string;
let stream: string;
/** The id of the source of both jobs. */
let uploaded: string;

beforeAll(async () => {
  slow = await makeSlowFfmpeg(folder, 1.2);
  Object.assign(process.env, slow.env);
  stack = await startTestStack();
  dashboard = await openDashboard(stack, [stack.s3.endpoint, sources.origin]);
  reader = await dashboard.browser.newPage();
  const clip = await makeStreamClip(CLIP, folder);
  const input = { url: sources.urlOf(clip) };
  const sprite = { interval: 2, sprite: { columns: 4 }, vtt: { filename: "thumbnails.vtt" } };
  const job = await stack.submit({
    input,
    outputs: {
      "mp4:240p": [
        { path: "files/all.mp4", key: "all" },
        { path: "files/part.mp4", key: "part", offset: 3, duration: 6 },
      ],
      "mov:prores_ks:noaudio": { path: "files/studio.mov", duration: 1 },
      "jpg:160x": { path: "files/%d.jpg", ...sprite },
    },
  });
  expect(await stack.waitForJob(job.id)).toMatchObject({ status: "job.completed" });
  files = job.id;
  uploaded = await upload(readFileSync(clip));
  await slow.hold();
  stream = await submitStream("stream");
});
afterAll(async () => {
  for (const name of Object.keys(slow.env)) delete process.env[name];
  await dashboard?.close();
  await stack?.stop();
});

/** Submits a job whose stream can be played during the encode; returns its id. */
async function submitStream(path: string): Promise<string> {
  const variants = ["mp4:240p", "mp4:x:64k"];
  const httpstream = {
    path,
    hls: { path: "ts" },
    dash: { path: "fmp4" },
    variants,
    live_playlist: true,
    segment_duration: 2,
  };
  return (await stack.submit({ input: { upload: uploaded }, outputs: { httpstream } })).id;
}

/** Uploads these bytes; returns the upload's id. */
async function upload(bytes: Buffer): Promise<string> {
  const { body } = await stack.request("POST", "/uploads", { name: CLIP, size: bytes.length });
  const { id } = body as { id: string };
  const headers = { authorization: `Basic ${btoa(`${stack.apiKey}:`)}`, "content-length": String(bytes.length) };
  await fetch(`${stack.api}/uploads/${id}/parts/1`, { method: "PUT", headers, body: new Uint8Array(bytes) });
  await stack.request("POST", `/uploads/${id}/complete`);
  return id;
}

type Shown = { readonly page: Page; readonly player: FrameLocator };

async function openJob(id: string): Promise<Shown> {
  const page = await dashboard.open({ path: `/jobs/${id}`, height: 1000 });
  await page.getByRole("heading", { name: "Outputs" }).waitFor();
  return { page, player: page.frameLocator("iframe") };
}

/** The time code of the frame on the screen, in seconds. A busy browser draws a frame late: this waits for the last. */
async function codeOn(view: Shown): Promise<number> {
  let code = await readCode(view);
  for (let before: number | null = null; !Object.is(code, before); ) [before, code] = [code, await readCode(view)];
  return code;
}

/** Waits until the time code of the frame on the screen is this one. */
const shows = (view: Shown, seconds: number): Promise<void> =>
  expect.poll(() => codeOn(view)).toSatisfy((code) => isNear(code, seconds));

async function readCode({ player }: Shown): Promise<number> {
  const png = (await player.locator(".screen").screenshot()).toString("base64");
  const ratio = await player
    .locator("video")
    .last()
    .evaluate((video: HTMLVideoElement) => video.videoWidth / video.videoHeight);
  const brightness = await reader.evaluate(
    async ([data, aspect, blocks, row]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const { width, height } = image;
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const drawing = canvas.getContext("2d");
      drawing?.drawImage(image, 0, 0);
      const [shownWidth, shownHeight] = [Math.min(width, height * aspect), Math.min(height, width / aspect)];
      const y = (height - shownHeight) / 2 + (shownHeight * row) / 2;
      const x = (block: number): number => (width - shownWidth) / 2 + ((block + 0.5) / blocks) * shownWidth;
      return Array.from({ length: blocks }, (_, block) => drawing?.getImageData(x(block), y, 1, 1).data[1] ?? 0);
    },
    [png, ratio, BLOCKS, ROW] as const,
  );
  return secondsOf(brightness) ?? Number.NaN;
}

/** Waits until the player plays, then pauses it with a key of the page. */
async function playAndPause(view: Shown, seconds = 1): Promise<void> {
  const { page, player } = view;
  await expect.poll(() => timeOf(player)).toBeGreaterThan(seconds);
  await page.keyboard.press(" ");
  await player.getByRole("button", { name: "Play", exact: true }).waitFor();
  await settled(player);
}

const timeOf = (player: FrameLocator): Promise<number> =>
  player
    .locator("video")
    .last()
    .evaluate((video: HTMLVideoElement) => video.currentTime);

/** Resolves when no video seeks any more and the frame is on the screen. */
const settled = (player: FrameLocator): Promise<void> =>
  player.locator("body").evaluate(async () => {
    const isSeeking = (): boolean => [...document.querySelectorAll("video")].some(({ seeking }) => seeking);
    do await new Promise((resolve) => setTimeout(resolve, 150));
    while (isSeeking());
  });

async function press({ page, player }: Shown, key: string): Promise<void> {
  await page.keyboard.press(key);
  await settled(player);
}

const isNear = (seconds: number, wanted: number): boolean => Math.abs(seconds - wanted) < 0.002;

/** Waits until both media of a comparison show the same frame; returns its time code. */
async function sameFrame(view: Shown): Promise<number> {
  const onFront = async (letter: "A" | "B"): Promise<number> => {
    await press(view, "t");
    await view.player.getByRole("button", { name: new RegExp(`A/B: ${letter}\\b`) }).waitFor();
    return codeOn(view);
  };
  let output = Number.NaN;
  await vi.waitFor(async () => {
    const source = await onFront("A");
    output = await onFront("B");
    expect([source, output]).toSatisfy(() => isNear(source, output));
  });
  return output;
}

it.each(["HLS", "DASH"])("plays a growing stream by %s from its start, then all of it", async (kind) => {
  const id = kind === "HLS" ? stream : await submitStream("again");
  await slow.hold();
  const live = kind === "HLS" ? { hls: expect.any(String) } : { dash: expect.any(String) };
  await vi.waitFor(async () =>
    expect(await stack.request("GET", `/jobs/${id}`)).toMatchObject({ body: { outputs: [{ live }] } }),
  );
  const view = await openJob(id);
  const { page, player } = view;
  await page.getByRole("button", { name: `Play ${kind} httpstream` }).click();
  await expect.poll(() => timeOf(player)).toBeGreaterThan(0.3);
  const startedAt = await player.locator("video").evaluate((video: HTMLVideoElement) => video.played.start(0));
  expect(startedAt).toBeLessThan(0.5);
  expect(await stack.request("GET", `/jobs/${id}`)).toMatchObject({ body: { status: "job.starting" } });
  await player.locator("video").evaluate((video) => Object.assign(video.dataset, { kept: "yes" }));
  await slow.release();
  expect(await stack.waitForJob(id)).toMatchObject({ status: "job.completed" });
  await expect
    .poll(() => player.locator("video").evaluate((video: HTMLVideoElement) => video.duration))
    .toBeCloseTo(SECONDS, 0);
  for (const time of [SECONDS - 2, 1]) {
    await player.getByRole("slider", { name: "Position" }).fill(time.toFixed(2));
    await settled(player);
    await expect.poll(() => codeOn(view)).toSatisfy((code) => Math.abs(code - time) < 2);
  }
  expect(await player.locator("video").getAttribute("data-kept")).toBe("yes");
  await page.context().close();
});

it("steps by single frames, and reacts to the keys of the page", async () => {
  const view = await openJob(files);
  const requested: string[] = [];
  view.page.on("request", (request) => requested.push(request.url()));
  await view.page.keyboard.press("p");
  await playAndPause(view);
  const code = await codeOn(view);
  await press(view, ".");
  await shows(view, code + FRAME);
  await press(view, ",");
  await shows(view, code);
  await press(view, ",");
  await shows(view, code - FRAME);
  const bar = view.player.getByRole("slider", { name: "Position" });
  await bar.hover();
  await expect.poll(() => view.player.locator(".thumbnail").getAttribute("data-url")).toMatch(/files\/1\.jpg$/);
  expect(requested.filter((url) => /engine/.test(url))).toEqual([]);
  expect(await accessibilityProblems(view.page)).toEqual([]);
  await view.page.keyboard.press("Escape");
  await expect.poll(() => view.page.locator("iframe").count()).toBe(0);
  await view.page.context().close();
});

it.each([
  ["all", "all"],
  ["an output that begins later", "part"],
])("shows the same frames of source and output when it compares %s", async (_, key) => {
  const view = await openJob(files);
  const { page } = view;
  await page.getByRole("button", { name: `Compare ${key}`, exact: true }).click();
  await playAndPause(view, 0.7);
  await press(view, ".");
  const output = await sameFrame(view);
  expect(output).toBeGreaterThan(key === "part" ? 3.5 : 0.5);
  await press(view, "]");
  await press(view, "t");
  await shows(view, output + FRAME);
  await page.context().close();
});

it.each(["HLS", "DASH"])("compares frames of an uploaded source with frames of a stream by %s", async (kind) => {
  await stack.waitForJob(stream);
  const view = await openJob(stream);
  const { page } = view;
  await page.getByRole("button", { name: "Compare httpstream" }).click();
  await page.getByLabel("B of the comparison").selectOption({ label: `httpstream (${kind})` });
  await playAndPause(view, 0.7);
  await press(view, ".");
  await sameFrame(view);
  await page.context().close();
});

it("reports why a video does not play, and how to fix it", async () => {
  const view = await openJob(files);
  await view.page.getByRole("button", { name: "Play mov:prores_ks:noaudio" }).click();
  await view.page.getByText("This browser cannot decode it").waitFor();
  await view.page.context().close();
  await stack.waitForJob(stream);
  const streams = await openJob(stream);
  await streams.page.context().route(/master\.m3u8$/, async (route) => {
    const response = await route.fetch();
    // Playwright adds this header if it is missing.
    const headers = { ...response.headers(), "access-control-allow-origin": "https://elsewhere.example" };
    await route.fulfill({ response, headers });
  });
  await streams.page.getByRole("button", { name: "Play HLS httpstream" }).click();
  await streams.page.getByText("does not let web pages read it (CORS)").waitFor();
  await streams.page.getByText(/put-bucket-cors --bucket copra/).waitFor();
  await streams.page.context().close();
});

it("isolates the media that it plays from the session", async () => {
  const view = await openJob(files);
  await view.page.keyboard.press("p");
  await playAndPause(view);
  const reached = await view.player.locator("body").evaluate(async () => {
    const attempt = async (what: () => unknown): Promise<string> => {
      try {
        return `reached: ${await what()}`;
      } catch (error) {
        return error instanceof Error ? error.name : "refused";
      }
    };
    return Promise.all([
      attempt(() => document.cookie),
      attempt(() => parent.document.title),
      attempt(() => localStorage.length),
      attempt(async () => (await fetch(`${location.origin}/v2/session`)).status),
    ]);
  });
  expect(reached).toEqual(["SecurityError", "SecurityError", "SecurityError", "TypeError"]);
  await view.page.context().close();
});

it("violates no policy and loads nothing from other hosts", () => {
  expect(dashboard.complaints).toEqual([]);
});

// Runs last: axe adds a style element, which the policy of the frame does not allow.
it("is accessible inside its frame, too", async () => {
  const { page, player } = await openJob(files);
  await page.getByRole("button", { name: "Compare all", exact: true }).click();
  await player.getByRole("slider", { name: "Divider between A and B" }).waitFor();
  const [, frame] = page.frames();
  expect(frame && (await accessibilityProblems(frame))).toEqual([]);
});
