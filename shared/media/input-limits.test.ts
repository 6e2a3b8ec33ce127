// Every input of every planned command is opened under the lists of protocols, formats and decoders.

import { expect, test } from "vitest";
import { TRACK_CONTAINER_TRAITS, TRACK_CONTAINERS } from "../format/containers.ts";
import { chunkSpans } from "../plan/chunks/choose-split-points.ts";
import { chunkableSource } from "../plan/chunks/chunkable-source.ts";
import { ALL_SOFTWARE } from "../plan/encoders/software-encoders.ts";
import { planAudio } from "../plan/tasks/plan-audio.ts";
import { planChunk } from "../plan/tasks/plan-chunk.ts";
import { planEncode } from "../plan/tasks/plan-encode.ts";
import { planJoin } from "../plan/tasks/plan-join.ts";
import { evenly, frameIndexOf, probeOf } from "../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../testing/output-specs.ts";

const LISTS = ["-protocol_whitelist", "-format_whitelist", "-codec_whitelist"];
const SERVED = ["-protocol_whitelist", "http,tcp", "-format_whitelist", "mov", "-codec_whitelist", "h264"];

/** Returns the options of each input: all options since the previous input. */
function inputsOf(argv: readonly string[]): string[][] {
  const ends = argv.flatMap((argument, at) => (argument === "-i" ? [at] : []));
  return ends.map((end, index) => argv.slice(index === 0 ? 0 : (ends[index - 1] ?? 0) + 2, end));
}

const WATERMARK = "https://example.com/mark.png";
/** Videos of every container with every codec that it supports, if the grammar has a format for them. */
const VIDEOS: OutputOptions[] = TRACK_CONTAINERS.flatMap((container) => {
  const { video, audio } = TRACK_CONTAINER_TRAITS[container];
  return [...video.map((codec) => `${container}:${codec}`), ...audio.map((codec) => `${container}:x:${codec}`)];
}).flatMap((format) => {
  try {
    specOf({ format }, 0);
    return [{ format }];
  } catch {
    return [];
  }
});
const OTHERS: OutputOptions[] = [
  ...["jpg:320x", "png:320x", "webp:320x"].map((format) => ({ format, number: 3 })),
  ...["gif:320x", "webp_anim:320x"].map((format) => ({ format })),
  { format: "gif:64x36", params: { scene: { number: 2, duration: 1 } } },
  { format: "jpg:64x", params: { sprite: { columns: 3 } }, number: 9 },
  { format: "mp4:480p_500k::2pass", params: { offset: 2 } },
  { format: "mp4:480p", params: { watermark: { url: WATERMARK, position: "bottomright" } } },
  { format: "httpstream", params: { hls: { path: "h" }, dash: { path: "d" }, thumbnails: true } },
];

const outputs = [...VIDEOS, ...OTHERS].map(specOf);
const probe = probeOf("30000/1001");
const source = chunkableSource(frameIndexOf(evenly(30000 / 1001, 90)), probe);
const splitPoints = [30, 60].flatMap(
  (second) => source.splitPoints.find(({ frameUs }) => frameUs >= second * 1e6) ?? [],
);
const chunked = ["mp4:500k", "mkv:hevc_360p_25fps:mp3", "webm:240p"].map((format, at) => specOf({ format }, at));
const stream = specOf({ format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:360p", "mp4:x"] } }, 3);
const both = [...chunked, stream];
const watermarks = new Map([[WATERMARK, "/work/watermark-1"]]);
const common = { probe, capabilities: ALL_SOFTWARE };

test.each<[string, readonly { readonly argv: readonly string[] }[]]>([
  [
    "encodes",
    planEncode({ ...common, source: "/work/input", outputs, watermarks }).commands.flatMap(({ runs }) => runs),
  ],
  [
    "chunks",
    chunkSpans(source, splitPoints).flatMap(
      (chunk) =>
        planChunk({ ...common, source: "http://127.0.0.1:1/a", loopbackOptions: SERVED, outputs: both, chunk }).command
          ?.runs ?? [],
    ),
  ],
  [
    "audio",
    planAudio({ ...common, source: "http://127.0.0.1:1/a", loopbackOptions: SERVED, outputs: both }).command?.runs ??
      [],
  ],
  ["joins", planJoin({ ...common, outputs: both }).runs],
])("%s", (_what, runs) => {
  const inputs = runs.flatMap(({ argv }) => inputsOf(argv));
  expect(inputs.length).toBeGreaterThanOrEqual(runs.length);
  for (const options of inputs) expect(options).toEqual(expect.arrayContaining(LISTS));
});
