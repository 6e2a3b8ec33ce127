// Takes images from a long source without decoding all of it. Each timestamp has an input that starts at the keyframe
// before.
import { checkedArguments } from "../command/checked-arguments.ts";
import { branchGraph, hasTimecode, overlayUrls } from "../command/filter-graph.ts";
import { openingArguments, type PlannedInput, seconds } from "../command/opening-arguments.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { ANIMATION_FPS } from "../encoders/image-encoders.ts";
import { skipBitmaps } from "../filters/burn-in.ts";
import { decodedTimesArguments, decodedTimesBranch } from "./decoded-times.ts";
import { EVEN_TIMESTAMPS, selectFilters, timesOf } from "./select-frames.ts";
import type { SelectedImages } from "./selected-images.ts";
import { countTimestamps, type SamplingInterval, timestampsOf } from "./thumbnail-timestamps.ts";

/** Options with which the runs open the source and overlay images. */
export type SeekInputs = {
  /** Index of the source's video stream. */
  readonly streamIndex: number;
  readonly network: PlannedRun["network"];
  source(options: readonly string[]): PlannedInput;
  overlays(urls: readonly string[]): PlannedInput[];
};

/** An image output that is made by seeking. */
export type SeekedImages = {
  /** `OutputSpec.index`. */
  readonly output: number;
  /** Label of its filters. */
  readonly label: string;
  readonly images: SelectedImages;
  /** Number of files. */
  readonly fileCount: number;
};

/**
 * Cost of a seek, in ms of video that could be decoded instead. Measured: 2.9 s with a keyframe every 5 s (10 images
 * from 180 s of 1080p: 1.7 s of CPU time by seeking, 10.0 s by decoding up to the last). By default, encoders make a
 * keyframe every 5 to 10 s.
 */
const SEEK_COST_MS = 5_000;
/** Timestamps this close together are decoded in one go. */
const NEAR_MS = SEEK_COST_MS / 2;
/**
 * Each seek is an input whose decoder takes memory: about 40 MB for 1080p, measured, and four times that for 4K. Only
 * one graph of a run can draw timecodes (`graphArguments`).
 */
const seeksAtOnce = ({ filters }: FrameFiles): number => (hasTimecode(filters) ? 1 : 8);
/** With more seeks, starting a process for every few of them takes long as well. */
export const MAX_SEEKS = 1_000;

/** Splits intervals, so that a single seek serves each part. */
function seeksOf(intervals: readonly SamplingInterval[]): SamplingInterval[] {
  return intervals.flatMap((interval) =>
    interval.stepMs < NEAR_MS
      ? [interval]
      : timestampsOf([interval]).map((firstMs) => ({ firstMs, stepMs: 1, count: 1 })),
  );
}

/** The seek for the last timestamp. */
export function lastSeek(intervals: readonly SamplingInterval[]): SamplingInterval {
  const last = seeksOf(intervals).at(-1);
  if (!last) throw new Error("Images without a timestamp");
  return last;
}

/** Cost of seeking to all timestamps, in ms of video that could be decoded instead. */
export function seekCost(intervals: readonly SamplingInterval[]): { costMs: number; seeks: number } {
  const seeks = seeksOf(intervals);
  const costMs = seeks.reduce((sum, { stepMs, count }) => sum + SEEK_COST_MS + (count - 1) * stepMs, 0);
  return { costMs, seeks: seeks.length };
}

/** Runs that make an image output by seeking, in groups of timestamps. */
export function seekRuns(seeked: SeekedImages, inputs: SeekInputs): PlannedRun[] {
  const { output, label, images, fileCount } = seeked;
  const { filters, finish, encode, file, burnIn, hasShownTimes } = images;
  if (images.oneFilePerFrame) {
    return groupRuns(seeked, { filters: [...filters, ...finish], encode, file, burnIn, hasShownTimes }, inputs);
  }
  // Lossless intermediate files. The last run makes sprite sheets or an animation of them.
  const frames = `${output}-frame-%05d.png`;
  const lossless = {
    filters,
    burnIn,
    hasShownTimes,
    encode: ["-fps_mode", "passthrough", "-c:v", "png"],
    file: { format: ["-f", "image2"], name: frames },
  };
  const joined = { label, filters: [`format=${images.pixelFormat}`, ...EVEN_TIMESTAMPS, ...finish] };
  const last: PlannedRun = {
    argv: [
      ...openingArguments([{ path: frames, kind: "frames", options: ["-framerate", String(ANIMATION_FPS)] }]),
      ...["-filter_complex", branchGraph("[0:v]", joined, new Map())],
      ...imageArguments(label, fileCount, images),
    ],
    network: "none",
    inHardware: false,
    expectedFrames: fileCount,
    durationMs: null,
  };
  return [...groupRuns(seeked, lossless, inputs), last];
}

/** ffmpeg's options to write the images of a branch. */
export const imageArguments = (
  label: string,
  fileCount: number,
  { encode, file }: Pick<SelectedImages, "encode" | "file">,
): string[] => [...["-map", `[${label}]`, "-frames:v", String(fileCount)], ...encode, ...file.format, file.name];

/** Processing of each frame: filters, encoder, and files with a counter in their names. */
type FrameFiles = Pick<SelectedImages, "filters" | "encode" | "file" | "burnIn" | "hasShownTimes">;

function groupRuns({ label, images }: SeekedImages, files: FrameFiles, inputs: SeekInputs): PlannedRun[] {
  const seeks = seeksOf(images.intervals);
  const atOnce = seeksAtOnce(files);
  let done = 0;
  return Array.from({ length: Math.ceil(seeks.length / atOnce) }, (_, at) => {
    const group = seeks.slice(at * atOnce, (at + 1) * atOnce);
    const isLast = (at + 1) * atOnce >= seeks.length;
    const run = groupRun({ label, seeks: group, firstNumber: done + 1, isLast }, files, inputs);
    done += countTimestamps(group);
    return run;
  });
}

type SeekGroup = {
  readonly label: string;
  readonly seeks: readonly SamplingInterval[];
  /** Number of the first file. */
  readonly firstNumber: number;
  /** True if the group has the last timestamp. */
  readonly isLast: boolean;
};

/**
 * Each seek has its own input, graph and output, so that ffmpeg stops reading an input as soon as its frames are done.
 * With `-noaccurate_seek` the filters get everything from the keyframe on, with times that count from the timestamp.
 * The frame that is shown at the timestamp may have started before it.
 */
function groupRun({ label, seeks, firstNumber, isLast }: SeekGroup, files: FrameFiles, inputs: SeekInputs): PlannedRun {
  const { filters, encode, file, burnIn } = files;
  const sources = seeks.map(({ firstMs }) => inputs.source(["-noaccurate_seek", "-ss", seconds(firstMs)]));
  const urls = overlayUrls([{ label, filters }]);
  const overlays = new Map(urls.map((url, at) => [url, seeks.length + at]));
  let number = firstNumber;
  const outputs = seeks.flatMap((seek, at) => {
    const branch = {
      label: `${label}at${at}`,
      filters: [
        ...selectFilters([seek], seek.firstMs),
        ...timesOf(files, [seek]),
        ...skipBitmaps(filters, burnIn, seek.firstMs),
      ],
    };
    const graph = branchGraph(`[${at}:${inputs.streamIndex}]`, branch, overlays);
    const start = ["-start_number", String(number)];
    number += seek.count;
    return [
      ...["-filter_complex", graph, "-map", `[${branch.label}]`, "-frames:v", String(seek.count)],
      ...[...encode, ...file.format, ...start, file.name],
    ];
  });
  return {
    argv: checkedArguments([
      ...openingArguments([...sources, ...inputs.overlays(urls)]),
      ...outputs,
      ...(isLast ? timesOfLast(seeks, inputs) : []),
    ]),
    network: inputs.network,
    inHardware: false,
    // `frame` counts the first output only.
    expectedFrames: null,
    durationMs: null,
  };
}

/** Notes how far the input of the last seek was decoded, on its own times. */
function timesOfLast(seeks: readonly SamplingInterval[], { streamIndex }: SeekInputs): string[] {
  const { stepMs = 0, count = 1 } = seeks.at(-1) ?? {};
  const branch = decodedTimesBranch("times", (count - 1) * stepMs);
  const graph = branchGraph(`[${seeks.length - 1}:${streamIndex}]`, branch, new Map());
  return ["-filter_complex", graph, ...decodedTimesArguments("times")];
}
