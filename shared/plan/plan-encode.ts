// From what a source is and what was asked for to the ffmpeg commands that make all outputs.
import { assertNever, type Failure } from "../errors.ts";
import type { OutputSpec } from "../job/output-spec.ts";
import type { MediaProbe } from "../media/media-probe.ts";
import type { FfmpegCapabilities } from "./command/capabilities.ts";
import { checkedArguments } from "./command/checked-arguments.ts";
import { openingArguments, type PlannedInput } from "./command/ffmpeg-arguments.ts";
import { type Branch, branchGraph, overlayUrls } from "./command/filter-graph.ts";
import type { CommandPart, OutputPlan, PlanResult } from "./command/output-plan.ts";
import type { PlannedCommand, PlannedRun } from "./command/planned-command.ts";
import { progressGoal, progressTicks, seconds } from "./command/progress-ticks.ts";
import { deviceArguments, type HardwareDevice } from "./encoders/hardware.ts";
import { imagesFirst } from "./images-first.ts";
import { planFile } from "./plan-file.ts";
import { planImages } from "./plan-images.ts";
import { planStream } from "./plan-stream.ts";
import { chooseTracks, type SourceTracks } from "./source/source-tracks.ts";
import { type Opens, seekedCommand, seekers } from "./thumbnails/seek-thumbnails.ts";

export type EncodePlan = {
  /** Independent of each other; none when every output was refused. */
  readonly commands: readonly PlannedCommand[];
  readonly failures: readonly { readonly output: number; readonly failure: Failure }[];
};

export type EncodeRequest = {
  /** The absolute path of a local file. */
  readonly source: string;
  readonly probe: MediaProbe;
  readonly outputs: readonly OutputSpec[];
  /** What the ffmpeg that runs the plan can do. */
  readonly capabilities: FfmpegCapabilities;
  /** The local file of each watermark, by its URL. Left out where nothing is run: then each has a name that stands for it. */
  readonly watermarks?: ReadonlyMap<string, string>;
  /** Makes images by commands of their own, before all others, where that costs little. */
  readonly imagesFirst?: boolean;
};

/** Plans all outputs of one source: one command for all that can share a decode, others for those that cannot. */
export function planEncode(request: EncodeRequest): EncodePlan {
  const { probe, outputs, capabilities: can } = request;
  const tracks = chooseTracks(probe);
  const results = outputs.map((spec) => ({ spec, result: planOutput(spec, tracks, can) }));
  const refusals = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.failure }],
  );
  const shared = results.flatMap(({ spec, result }) => (result.ok ? [{ spec, ...result.plan }] : []));
  const first = request.imagesFirst ? imagesFirst(shared, tracks.format) : [];
  const rest = shared.filter((plan) => !first.includes(plan));
  return {
    commands: [...commandsOf(first, request, tracks), ...commandsOf(rest, request, tracks)],
    failures: refusals,
  };
}

/** One command for each point where outputs begin to read, and others for those that cannot share a decode. */
function commandsOf(shared: readonly SpecifiedPlan[], request: EncodeRequest, tracks: SourceTracks): PlannedCommand[] {
  const seeking = seekers(shared, tracks.format);
  const twice = shared.filter(({ firstPass }) => firstPass !== undefined);
  const together = shared.filter((plan) => ![...seeking, ...twice].some(({ spec }) => spec === plan.spec));
  const seeks = new Set(together.map(({ seekMs = 0 }) => seekMs));
  const commands = [...seeks].map((from) => {
    const plans = together.filter(({ seekMs = 0 }) => seekMs === from);
    return sharedCommand(request, tracks, plans, from);
  });
  const sought = seeking.map((plan) => seekedCommand(plan, opensOf(request, tracks)));
  const passes = twice.map((plan) => twoPassCommand(request, tracks, plan));
  return [...commands, ...sought, ...passes];
}

/** Plans one output by itself. */
export function planOutput(spec: OutputSpec, tracks: SourceTracks, can: FfmpegCapabilities): PlanResult {
  switch (spec.type) {
    case "video":
      return planFile(spec, tracks, can);
    case "image":
      return planImages(spec, tracks, can);
    case "httpstream":
      return planStream(spec, tracks, can);
    default:
      return assertNever(spec);
  }
}

/**
 * ffmpeg's `frame` counts the pictures of the first output that has any, so the best measure of the whole goes first:
 * films, uncut ones before cut ones, then what has no frames to count or few.
 */
function sharedCommand(
  request: EncodeRequest,
  tracks: SourceTracks,
  plans: readonly SpecifiedPlan[],
  seekMs: number,
): PlannedCommand {
  const films = plans.filter(isFilm).toSorted((a, b) => rank(b) - rank(a));
  const others = plans.filter((plan) => !isFilm(plan));
  const images = others.filter((plan) => plan.spec.type === "image");
  const ticks = tracks.video ? progressTicks(films, images, tracks.video) : null;
  const outputs = [...films, ...others];
  const parts: readonly CommandPart[] = ticks ? [ticks, ...outputs] : outputs;
  const head = devicesArguments(plans.map(({ device }) => device));
  return {
    runs: [runOf(request, tracks, parts, seekArguments(seekMs), head)],
    outputs: outputs.map((plan) => plan.planned),
  };
}

/** Options before all inputs that open each device once. */
export function devicesArguments(used: readonly (HardwareDevice | null | undefined)[]): string[] {
  const devices = new Map(used.flatMap((device) => (device ? [[device.name, device] as const] : [])));
  return [...devices.values()].flatMap(deviceArguments);
}

const seekArguments = (seekMs: number): string[] => (seekMs === 0 ? [] : ["-ss", seconds(seekMs)]);

/** Each pass reads the source anew; the second begins when the first has measured all of it. */
function twoPassCommand(request: EncodeRequest, tracks: SourceTracks, plan: SpecifiedPlan): PlannedCommand {
  const parts: CommandPart[] = [...(plan.firstPass ? [plan.firstPass] : []), plan];
  const from = seekArguments(plan.seekMs ?? 0);
  return { runs: parts.map((part) => runOf(request, tracks, [part], from)), outputs: [plan.planned] };
}

/** What the runs of a plan read. */
export type RunInputs = Pick<EncodeRequest, "source" | "watermarks"> & {
  /** For a source that the node itself serves: how it is opened. `source` is its URL then. */
  readonly loopbackOptions?: readonly string[];
};

/** One call of ffmpeg; `options` are of its source, `head` are before all inputs. */
export function runOf(
  request: RunInputs,
  tracks: SourceTracks,
  parts: readonly CommandPart[],
  options: readonly string[],
  head: readonly string[] = [],
): PlannedRun {
  const branches = parts.flatMap(({ branches }) => branches);
  const marks = overlayUrls(branches);
  return {
    argv: checkedArguments([
      ...head,
      ...openingArguments([sourceInput(request, tracks, options), ...markInputs(marks, request.watermarks)]),
      ...graphArguments(tracks, branches, marks),
      ...parts.flatMap((part) => part.argv),
    ]),
    ...progressGoal(parts),
  };
}

/**
 * A picture size that changes on the way starts the filters anew: 7.0 then loses the frames that were under way, and
 * pictures are counted from the start again. So the filters stay as they are, and `scale`, which is the first of ours
 * that cares, follows by itself. Not so where ffmpeg turns the picture before that, because its filters for turning read
 * beyond the edge of a smaller picture; and not for sound, where nothing follows.
 */
const resizingArguments = ({ video }: SourceTracks): string[] =>
  video && video.facts.rotation !== 0 ? [] : ["-reinit_filter:v", "0"];

const decoderArguments = ({ video }: SourceTracks): string[] =>
  video?.decoder ? [`-c:${video.streamIndex}`, video.decoder] : [];

const sourceInput = (
  { source, loopbackOptions: loopbackOptions }: RunInputs,
  tracks: SourceTracks,
  options: readonly string[],
): PlannedInput => ({
  path: source,
  options: [...options, ...decoderArguments(tracks), ...resizingArguments(tracks)],
  ...(loopbackOptions ? { served: loopbackOptions } : {}),
});

const opensOf = (request: EncodeRequest, tracks: SourceTracks): Opens => ({
  streamIndex: tracks.video?.streamIndex ?? 0,
  source: (options) => sourceInput(request, tracks, options),
  marks: (urls) => markInputs(urls, request.watermarks),
});

const markInputs = (marks: readonly string[], files: EncodeRequest["watermarks"]): PlannedInput[] =>
  marks.map((url, at) => ({ path: files?.get(url) ?? `/watermark-${at + 1}`, kind: "picture" }));

type SpecifiedPlan = OutputPlan & { readonly spec: OutputSpec };

const rank = ({ endMs }: SpecifiedPlan): number => endMs ?? Number.MAX_VALUE;
const isFilm = ({ spec, branches }: SpecifiedPlan): boolean => spec.type !== "image" && branches.length > 0;

function graphArguments({ video }: SourceTracks, branches: readonly Branch[], marks: readonly string[]): string[] {
  if (!video) return [];
  const inputs = new Map(marks.map((url, at) => [url, at + 1]));
  const start = `[0:${video.streamIndex}]`;
  return branches.flatMap((branch) => ["-filter_complex", branchGraph(start, branch, inputs)]);
}
