// Closed captions in the source's video: copied or left out, and announced accordingly.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { captionedClip, captionsOf } from "../jobs/captioned-clip.ts";
import { makeBoth } from "../jobs/chunked-encodes.ts";
import { processSource } from "../jobs/process-source.ts";
import { closeServers } from "../range-server.ts";
import { openWorkshop } from "../source-workshop.ts";

const folder = fileFolder();
let clip: string;
beforeAll(async () => {
  clip = await captionedClip(openWorkshop(folder), "HELLO COPRA");
});
afterAll(async () => {
  closeServers();
});

const SHOWN = /00:00:01,0\d\d --> 00:00:03,0\d\d\s+HELLO COPRA/;
const stream = (more: object, variants: string[]): OutputOptions => ({
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, variants, ...more },
});
const VARIANTS = ["mp4:64x:48k", "mp4:x:48k"];

/** The lines of a master playlist and a manifest that are about captions. */
async function announced(files: readonly string[] = []): Promise<string[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return texts.flatMap(
    (text) => text.match(/#EXT-X-MEDIA:TYPE=CLOSED.*|CLOSED-CAPTIONS=\S+|<Accessibility[^>]*>/g) ?? [],
  );
}

it("keeps the captions of the source, and announces them in streams", async () => {
  const { outputs } = await processSource(clip, [{ format: "mp4" }, stream({}, VARIANTS)]);
  const [file, packages] = outputs.map((output) => (output.ok ? output.files : []));
  expect(await captionsOf(file?.[0] ?? "")).toMatch(SHOWN);
  expect(await announced(packages)).toEqual([
    '<Accessibility schemeIdUri="urn:scte:dash:cc:cea-608:2015"/>',
    '#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="CC1",INSTREAM-ID="CC1"',
    'CLOSED-CAPTIONS="cc"',
  ]);
});

it("drops the captions of the source if asked to, and announces none", async () => {
  const captions = "drop";
  const requests = [{ format: "mp4", params: { captions } }, stream({ captions }, VARIANTS)];
  const { outputs } = await processSource(clip, requests);
  const [file, packages] = outputs.map((output) => (output.ok ? output.files : []));
  expect(await captionsOf(file?.[0] ?? "")).toBe("");
  expect(await announced(packages)).toEqual(["CLOSED-CAPTIONS=NONE", "CLOSED-CAPTIONS=NONE"]);
});

it("makes the same captions in chunks as in the whole", async () => {
  const requests = [{ format: "mp4" }, { format: "mp4", params: { captions: "drop" } }];
  const { whole, joined } = await makeBoth(clip, requests, [2], (argv) => [...argv]);
  for (const { folder, outputs } of [whole, joined]) {
    const [captioned, dropped] = outputs.map(({ files: [file = ""] }) => join(folder, file));
    expect(await captionsOf(captioned ?? "")).toMatch(SHOWN);
    expect(await captionsOf(dropped ?? "")).toBe("");
  }
});
