// Builds a call of ffmpeg: devices, inputs, filter graphs, and the parts that write outputs.
import type { MediaProbe } from "../../media/media-probe.ts";
import { sourceFacts } from "../../media/source-facts.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { branchGraph, graphArguments, overlayUrls } from "../command/filter-graph.ts";
import { openingArguments, type PlannedInput } from "../command/opening-arguments.ts";
import type { CommandPart, NamedInput, PlannedRun } from "../command/planned-run.ts";
import { deviceArguments, type HardwareDevice } from "../encoders/hardware.ts";
import type { SourceTracks } from "../source/source-tracks.ts";
import type { SeekInputs } from "../thumbnails/seek-thumbnails.ts";
import { progressGoal } from "./progress.ts";

/** Inputs of the runs of a plan. */
export type RunInputs = {
  /** Absolute path of a local file; with `loopbackOptions` a URL. */
  readonly source: string;
  /** Set if the node itself serves the source: options with which ffmpeg opens it. */
  readonly loopbackOptions?: readonly string[];
  /**
   * Local file of each watermark, by its URL. Left out if nothing is run: each watermark then has a placeholder name.
   */
  readonly watermarks?: ReadonlyMap<string, string>;
  /** Local files with text tracks by the name of the input (`textsName`). Left out if nothing is run. */
  readonly textTracks?: ReadonlyMap<string, string>;
};

export type RunOptions = {
  readonly inputs: RunInputs;
  readonly tracks: SourceTracks;
  readonly parts: readonly CommandPart[];
  /** Options of the source. */
  readonly sourceOptions: readonly string[];
  /** Hardware that the parts use. */
  readonly devices?: readonly (HardwareDevice | null | undefined)[];
};

/** A call of ffmpeg that decodes the source once for all parts. */
export function planRun({ inputs, tracks, parts, sourceOptions, devices = [] }: RunOptions): PlannedRun {
  const branches = parts.flatMap(({ branches }) => branches);
  const urls = overlayUrls(branches);
  const named = namedInputs(parts).map((input) => {
    const path = inputs.textTracks?.get(input.name);
    return path === undefined ? input : { ...input, path };
  });
  const overlays = new Map(urls.map((url, at) => [url, named.length + at + 1]));
  const texts = named.flatMap(({ path, text }) => (text === undefined ? [] : [{ file: path, text }]));
  const read = named.flatMap(({ path, text }) => (text === undefined ? [path] : []));
  const start = `[0:${tracks.video?.streamIndex}]`;
  return {
    argv: checkedArguments([
      ...devicesArguments(devices),
      ...openingArguments([
        sourceInput(inputs, tracks, sourceOptions),
        ...named.map((input) => onSameClock(input, sourceOptions)),
        ...overlayInputs(urls, inputs),
      ]),
      ...graphArguments([
        ...(tracks.video ? branches.map((branch) => branchGraph(start, branch, overlays)) : []),
        ...parts.flatMap(({ graphs = [] }) => graphs),
      ]),
      ...parts.flatMap(({ argv }) => argv.map((argument) => withNumber(argument, named))),
    ]),
    ...(read.length > 0 ? { reads: read } : {}),
    ...(texts.length > 0 ? { texts } : {}),
    network: networkOf(inputs),
    inHardware: devices.some((device) => device != null),
    ...progressGoal(parts),
  };
}

/** A call of ffmpeg that reads streams of the source before it is encoded. `options`: of the source. */
export function readingRun(
  inputs: RunInputs,
  probe: MediaProbe,
  output: readonly string[],
  options: readonly string[] = [],
): PlannedRun {
  const { source: path, loopbackOptions: loopback } = inputs;
  return {
    argv: checkedArguments([...openingArguments([{ path, options, ...(loopback ? { loopback } : {}) }]), ...output]),
    network: networkOf(inputs),
    inHardware: false,
    expectedFrames: null,
    durationMs: sourceFacts(probe).durationMs,
  };
}

/** The inputs of all parts, each once. */
const namedInputs = (parts: readonly CommandPart[]): NamedInput[] => [
  ...new Map(parts.flatMap(({ inputs = [] }) => inputs.map((input) => [input.name, input]))).values(),
];

/** Beside a source that keeps its own clock, every other input keeps its clock, too. */
const onSameClock = (input: NamedInput, sourceOptions: readonly string[]): NamedInput =>
  input.startUs !== undefined && sourceOptions.includes("-copyts")
    ? { ...input, options: ["-itsoffset", (-input.startUs / 1e6).toFixed(6)] }
    : input;

/** Replaces the name of an input by its number. */
function withNumber(argument: string, named: readonly NamedInput[]): string {
  const [, name] = /^@([\w-]+)(?::|$)/.exec(argument) ?? [];
  if (name === undefined) return argument;
  const at = named.findIndex((input) => input.name === name);
  if (at < 0) throw new Error(`A part has no input ${name}`);
  return `${at + 1}${argument.slice(name.length + 1)}`;
}

/** Inputs of runs that seek. */
export const seekInputs = (inputs: RunInputs, tracks: SourceTracks): SeekInputs => ({
  streamIndex: tracks.video?.streamIndex ?? 0,
  network: networkOf(inputs),
  source: (options) => sourceInput(inputs, tracks, options),
  overlays: (urls) => overlayInputs(urls, inputs),
});

/** Network access of a run that reads these inputs. */
export const networkOf = ({ loopbackOptions }: RunInputs): PlannedRun["network"] =>
  loopbackOptions ? "loopback" : "none";

/** Options before all inputs that open each device once. */
function devicesArguments(used: readonly (HardwareDevice | null | undefined)[]): string[] {
  const devices = new Map(used.flatMap((device) => (device ? [[device.name, device] as const] : [])));
  return [...devices.values()].flatMap(deviceArguments);
}

/**
 * Options that keep the filters after a change of the frame size. By default such a change restarts the filters. ffmpeg
 * 7.0 then loses the frames in the filters, and images are counted from the start again. With `-reinit_filter 0` the
 * filters continue, and `scale`, our first filter that depends on the size, adapts by itself. Empty if ffmpeg rotates
 * frames before that, because its rotation filters read beyond the edge of a smaller frame. Only for video, because no
 * audio filter adapts.
 */
const resizingArguments = ({ video }: SourceTracks): string[] =>
  video && video.facts.rotation !== 0 ? [] : ["-reinit_filter:v", "0"];

const decoderArguments = ({ video }: SourceTracks): string[] => [
  ...(video?.decoder ? [`-c:${video.streamIndex}`, video.decoder] : []),
  // For decoders that take the matrix from the container; plan-clean-copy.ts is for the others.
  ...(video?.hasReservedMatrix ? [`-colorspace:${video.streamIndex}`, UNSPECIFIED_MATRIX] : []),
];

const UNSPECIFIED_MATRIX = "2";

/** The source, as each run opens it. `options` are further options of the input. */
export const sourceInput = (
  { source, loopbackOptions }: RunInputs,
  tracks: SourceTracks,
  options: readonly string[],
): PlannedInput => ({
  path: source,
  options: [...options, ...decoderArguments(tracks), ...resizingArguments(tracks)],
  ...(loopbackOptions ? { loopback: loopbackOptions } : {}),
});

/** The watermarks with these URLs, in this order. */
export const overlayInputs = (urls: readonly string[], { watermarks }: RunInputs): PlannedInput[] =>
  urls.map((url, at) => ({ path: watermarks?.get(url) ?? `/watermark-${at + 1}`, kind: "image" }));
