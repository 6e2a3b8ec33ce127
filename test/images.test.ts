// All kinds of images in one job, from the request to the stored files.
import { beforeAll, expect, it } from "vitest";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { look } from "./look.ts";
import { makeClip } from "./media.ts";
import type { JobView } from "./services/api-client.ts";
import { startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const folder = fileFolder();
const stack = sharedStack();
const sources = untilEnd(await startSourceServer(folder));
let job: JobView;

/** Outputs of a 3 s source of 640×360. */
const OUTPUTS = {
  "jpg:160x90": [
    { key: "number", path: "n/%02d.jpg", number: 3, vtt: true },
    { key: "offsets", path: "o/%d.jpg", offsets: [2.5, 0], blur: 2 },
    { key: "beyond", path: "beyond.jpg", offsets: [3600] },
  ],
  "png:80x": { key: "sheets", path: "s/sheet %d.png", interval: 1.1, sprite: { limit: 2, columns: 2 }, vtt: true },
  "gif:120x": { key: "gif", path: "video.gif", scene: { number: 2, duration: 0.5 } },
  "webp_anim:120x": { key: "anim", path: "video.webp", scene: { duration: 1 } },
  "webp:100x": { key: "webp", path: "still.webp" },
  "avif:100x": { key: "avif", path: "still.avif" },
};

beforeAll(async () => {
  const clip = await makeClip("ntsc.mp4", folder);
  const { id } = await stack.submit({ input: { url: sources.urlOf(clip) }, outputs: OUTPUTS });
  job = await stack.waitForJob(id);
});

const urlsOf = (key: string): string[] => (job.outputs.find((output) => output.key === key)?.urls ?? []).map(String);

it.each([
  ["number", ["n/01.jpg", "n/02.jpg", "n/03.jpg", "n/images.vtt"], "image/jpeg"],
  ["offsets", ["o/1.jpg", "o/2.jpg"], "image/jpeg"],
  ["sheets", ["s/sheet%201.png", "s/sheet%202.png", "s/sheet.vtt"], "image/png"],
  ["gif", ["video.gif"], "image/gif"],
  ["anim", ["video.webp"], "image/webp"],
  ["webp", ["still.webp"], "image/webp"],
  ["avif", ["still.avif"], "image/avif"],
])("%s: its URLs serve files of its type, the WebVTT file last", async (key, names, mediaType) => {
  const base = `${stack.s3.endpoint}/${stack.s3.bucket}/`;
  expect(urlsOf(key).map((url) => url.replace(base, ""))).toEqual(names);
  const answers = await Promise.all(urlsOf(key).map((url) => fetch(url)));
  expect(answers.map(({ status, headers }) => [status, headers.get("content-type")])).toEqual(
    names.map((name) => [200, name.endsWith(".vtt") ? "text/vtt" : mediaType]),
  );
});

it("an offset beyond the end fails only its own output", () => {
  expect(job.outputs.find(({ key }) => key === "beyond")).toMatchObject({
    status: "image.failed",
    error: expect.stringMatching(/^There is no frame at 3600 s: the input ends at 3(\.\d+)? s\.$/),
    error_code: "offset_beyond_end",
  });
});

it("cues reference the images, from the start of the source to its end", async () => {
  for (const [key, boxes] of [
    ["number", [null, null, null]],
    ["sheets", ["0,0,80,45", "80,0,80,45", "0,0,80,45"]],
  ] as const) {
    const urls = urlsOf(key);
    const vtt = urls.at(-1) ?? "";
    const text = await (await fetch(vtt)).text();
    const cues = [...text.matchAll(/(\S+) --> (\S+)\n(\S+)/g)].map(([, start, end, target = ""]) => {
      const { href, hash } = new URL(target, vtt);
      return { start, end, url: href.replace(hash, ""), box: hash ? hash.replace("#xywh=", "") : null };
    });
    expect(cues.map(({ box }) => box)).toEqual(boxes);
    expect(cues.every(({ url }) => urls.includes(url))).toBe(true);
    expect([cues[0]?.start, cues.slice(1).map(({ start }) => start)]).toEqual([
      "00:00:00.000",
      cues.slice(0, -1).map(({ end }) => end),
    ]);
    expect(cues.at(-1)?.end).toMatch(/^00:00:0[23]\.\d{3}$/);
  }
});

it("sizes and frame counts are as requested", async () => {
  const seen = async (key: string) => {
    const { video, frames } = await look(urlsOf(key)[0]);
    return `${video?.codec_name} ${video?.width}x${video?.height} ${frames}`;
  };
  expect(await Promise.all(["number", "sheets", "gif", "webp", "avif"].map(seen))).toEqual([
    "mjpeg 160x90 1",
    "png 160x45 1",
    "gif 120x68 10",
    "webp 100x56 1",
    "av1 100x56 1",
  ]);
});
