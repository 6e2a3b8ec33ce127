// Pictures from a long film without decoding all of it: one input per moment, each beginning at the keyframe before it.

import { INDEXED_DEMUXERS } from "../../media/demuxers.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { openingArguments, type PlannedInput } from "../command/ffmpeg-arguments.ts";
import { type Branch, branchGraph, overlayUrls } from "../command/filter-graph.ts";
import type { OutputPlan, SelectedImages } from "../command/output-plan.ts";
import type { PlannedCommand, PlannedRun } from "../command/planned-command.ts";
import { seconds } from "../command/progress-ticks.ts";
import { EVEN_TIMESTAMPS, selectFilters } from "./select-frames.ts";
import { ANIMATION_FPS, countTimestamps, type SamplingInterval, timestampsOf } from "./thumbnail-timestamps.ts";

/** How inputs of the source and of watermarks are opened. */
export type Opens = {
  readonly streamIndex: number;
  source(options: readonly string[]): PlannedInput;
  marks(urls: readonly string[]): PlannedInput[];
};

type Picturing = OutputPlan & { readonly images: SelectedImages };

/**
 * What a seek costs, in ms of film that might be decoded instead. Measured: 2.9 s with a keyframe every 5 s (10 images from
 * 180 s of 1080p: 1.7 s of CPU by seeks, 10.0 by decoding up to the last); encoders' default is one every 5 to 10 s.
 */
const SEEK_COST_MS = 5_000;
/** Moments so close together are decoded in one go. */
const NEAR_MS = SEEK_COST_MS / 2;
/** Each is an input with a decoder of its own in memory: about 40 MB for 1080p, measured, and four times that for 4K. */
const SEEKS_AT_ONCE = 8;
/** Beyond that, starting a process for every few takes long as well. */
export const MAX_SEEKS = 1_000;

/** The moments by which to seek, together those of the strides. */
function piecesOf(strides: readonly SamplingInterval[]): SamplingInterval[] {
  return strides.flatMap((stride) =>
    stride.stepMs < NEAR_MS ? [stride] : timestampsOf([stride]).map((firstMs) => ({ firstMs, stepMs: 1, count: 1 })),
  );
}

/** What it costs to seek to all images of an output, in ms of video that might be decoded instead. */
export function seekCost({ intervals: strides }: Pick<SelectedImages, "intervals">): { costMs: number; seeks: number } {
  const pieces = piecesOf(strides);
  const costMs = pieces.reduce((sum, { stepMs, count }) => sum + SEEK_COST_MS + (count - 1) * stepMs, 0);
  return { costMs, seeks: pieces.length };
}

/**
 * Which image outputs are better made by seeking, each by a command of its own: all of those that can, when together they
 * cost less than decoding up to the last moment, and no film among `plans` does that anyway. `format` is the demuxer's name.
 */
export function seekers<Plan extends OutputPlan>(plans: readonly Plan[], format: string): (Plan & Picturing)[] {
  const images = plans.filter((plan): plan is Plan & Picturing => plan.images !== undefined);
  const films = plans.filter(({ images, branches, seekMs = 0 }) => !images && branches.length > 0 && seekMs === 0);
  // Without an index a seek lands anywhere, and the picture may be lost.
  if (!INDEXED_DEMUXERS.has(format) || films.some(({ endMs }) => endMs === null)) return [];
  const decodedMs = Math.max(0, ...films.map(({ endMs }) => endMs ?? 0));
  const wholeMs = Math.max(0, ...images.map(({ endMs }) => endMs ?? 0)) - decodedMs;
  const { costMs, seeks } = seekCost({ intervals: images.flatMap(({ images }) => images.intervals) });
  return costMs < wholeMs && seeks <= MAX_SEEKS ? images : [];
}

/** The command that makes one image output by seeking, in groups of moments. */
export function seekedCommand(plan: Picturing, opens: Opens): PlannedCommand {
  const { images, argv, branches, expectedFrames } = plan;
  const groups = grouped(piecesOf(images.intervals), SEEKS_AT_ONCE);
  const label = branches[0]?.label ?? "";
  const { finish, filters } = images;
  if (images.oneFilePerFrame) {
    const writes = { filters: [...filters, ...finish], argv: argv.slice(argv.indexOf("-fps_mode")) };
    return { runs: runsOf(groups, label, writes, opens), outputs: [plan.planned] };
  }
  // Lossless files in between, out of which a last run makes sheets, or what moves.
  const parts = `${plan.planned.output}-part-%05d.png`;
  const writes = { filters, argv: ["-fps_mode", "passthrough", "-c:v", "png", "-f", "image2", parts] };
  const joined = branchGraph(
    "[0:v]",
    { label, filters: [`format=${images.pixelFormat}`, ...EVEN_TIMESTAMPS, ...finish] },
    new Map(),
  );
  const last = [
    ...openingArguments([{ path: parts, kind: "parts", options: ["-framerate", String(ANIMATION_FPS)] }]),
    "-filter_complex",
    joined,
    ...argv,
  ];
  const runs = [...runsOf(groups, label, writes, opens), { argv: last, expectedFrames, durationMs: null }];
  return { runs, outputs: [plan.planned] };
}

/** What is done with the images of each moment: filters, and options up to a file name with a counter. */
type Writes = { readonly filters: Branch["filters"]; readonly argv: readonly string[] };

function runsOf(
  groups: readonly (readonly SamplingInterval[])[],
  label: string,
  writes: Writes,
  opens: Opens,
): PlannedRun[] {
  let made = 0;
  return groups.map((pieces) => {
    const run = seekingRun(pieces, made, label, writes, opens);
    made += countTimestamps(pieces);
    return run;
  });
}

/**
 * Each moment has an input, a graph and an output of its own: so ffmpeg stops reading an input as soon as its picture is
 * made. `-noaccurate_seek` hands on everything from the keyframe, with times that count from the moment asked for: the frame
 * that is on the screen then began before it. Numbers go on from the `made` images of the runs before.
 */
function seekingRun(
  pieces: readonly SamplingInterval[],
  made: number,
  label: string,
  { filters, argv }: Writes,
  opens: Opens,
): PlannedRun {
  const inputs = pieces.map(({ firstMs }) => opens.source(["-noaccurate_seek", "-ss", seconds(firstMs)]));
  const urls = overlayUrls([{ label, filters }]);
  const marks = new Map(urls.map((url, at) => [url, pieces.length + at]));
  let number = made + 1;
  const outputs = pieces.flatMap((piece, at) => {
    const branch = {
      label: `${label}at${at}`,
      filters: [...selectFilters([piece], piece.firstMs), ...EVEN_TIMESTAMPS, ...filters],
    };
    const graph = branchGraph(`[${at}:${opens.streamIndex}]`, branch, marks);
    const options = [...argv.slice(0, -1), "-start_number", String(number), ...argv.slice(-1)];
    number += piece.count;
    return ["-filter_complex", graph, "-map", `[${branch.label}]`, "-frames:v", String(piece.count), ...options];
  });
  // `frame` counts the first output alone.
  return {
    argv: checkedArguments([...openingArguments([...inputs, ...opens.marks(urls)]), ...outputs]),
    expectedFrames: null,
    durationMs: null,
  };
}

function grouped<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}
