// Plans the ffmpeg commands that make all outputs of a source.
import { assertNever, type Failure } from "../../errors.ts";
import type { OutputSpec, TextOutput } from "../../job/output-spec.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import { err, ok, type Result } from "../../result.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { hasTimecode } from "../command/filter-graph.ts";
import { seconds } from "../command/opening-arguments.ts";
import type { CommandPart } from "../command/planned-run.ts";
import { imagesBySeeking, imagesFirst } from "../outputs/image-commands.ts";
import type { OutputPlan, PlannedCommand, PlannedOutput } from "../outputs/output-plan.ts";
import { planFile } from "../outputs/plan-file.ts";
import { planImages } from "../outputs/plan-images.ts";
import { planStream } from "../outputs/plan-stream.ts";
import { planRun, type RunInputs, seekInputs } from "../runs/plan-run.ts";
import { progressTicks } from "../runs/progress.ts";
import { clipFailure, clipNote } from "../source/clip-end.ts";
import { UNPACKING } from "../source/copy-tracks.ts";
import { type AudioFile, chooseTracks, type SourceTracks } from "../source/source-tracks.ts";
import { decodedTimes } from "../thumbnails/decoded-times.ts";
import { lastSeek, seekRuns } from "../thumbnails/seek-thumbnails.ts";
import type { SelectedImages } from "../thumbnails/selected-images.ts";

export type EncodePlan = {
  /** Independent of each other; none if no output is possible. */
  readonly commands: readonly PlannedCommand[];
  readonly failures: readonly OutputFailure[];
};

/** Reason why an output is not possible. `output` is `OutputSpec.index`. */
export type OutputFailure = { readonly output: number; readonly failure: Failure };

export type EncodeRequest = Pick<RunInputs, "source" | "watermarks" | "textTracks"> & {
  readonly probe: MediaProbe;
  /** Files of audio tracks with a URL; left out: none, or nothing is run. */
  readonly audioFiles?: readonly AudioFile[];
  readonly outputs: readonly OutputSpec[];
  readonly capabilities: FfmpegCapabilities;
  /** Makes images with their own commands, before all others, if that costs little. */
  readonly imagesFirst?: boolean;
  /** Files are uploaded while they are written, as far as their containers allow (growing-file.ts). */
  readonly uploadsEarly?: boolean;
};

type SpecifiedPlan = OutputPlan & { readonly spec: OutputSpec };

/** Common inputs of all commands of a plan. */
type Source = { readonly inputs: RunInputs; readonly tracks: SourceTracks };

/**
 * Plans all outputs of a source: a common command for all outputs that can share a decode, and separate commands for
 * others.
 */
export function planEncode(request: EncodeRequest): EncodePlan {
  const { probe, audioFiles, outputs, capabilities, uploadsEarly = false } = request;
  const tracks = chooseTracks(probe, audioFiles);
  const results = outputs.map((spec) => ({ spec, result: planOutput(spec, tracks, capabilities, uploadsEarly) }));
  const failures = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.error }],
  );
  const plans = results.flatMap(({ spec, result }) =>
    result.ok && spec.type !== "text" ? [{ spec, ...result.value }] : [],
  );
  const first = request.imagesFirst ? imagesFirst(plans, tracks.format) : [];
  const others = plans.filter((plan) => !first.includes(plan));
  const source = { inputs: request, tracks };
  return { commands: [...commandsOf(first, source), ...commandsOf(others, source)], failures };
}

/** Plans a single output, with a note if its clip ends after the source. Fails if the clip starts there. */
export function planOutput(
  spec: OutputSpec,
  tracks: SourceTracks,
  capabilities: FfmpegCapabilities,
  uploadsEarly = false,
): Result<OutputPlan> {
  const beyond = clipFailure(spec.clip, tracks);
  if (beyond) return err(beyond);
  const plan = planKind(spec, tracks, capabilities, uploadsEarly);
  const late = clipNote(spec.clip, tracks);
  if (!plan.ok || late === null) return plan;
  const { planned } = plan.value;
  const note = [planned.note, late].filter((sentence) => sentence !== undefined).join(" ");
  return ok({ ...plan.value, planned: { ...planned, note } });
}

function planKind(
  spec: OutputSpec,
  tracks: SourceTracks,
  capabilities: FfmpegCapabilities,
  uploadsEarly: boolean,
): Result<OutputPlan> {
  switch (spec.type) {
    case "video":
      return planFile(spec, tracks, capabilities, uploadsEarly);
    case "image":
      return planImages(spec, tracks, capabilities);
    case "text":
      // The node reads the text without a plan.
      return ok({ branches: [], argv: [], expectedFrames: null, endMs: null, planned: textOutput(spec), needs: [] });
    case "httpstream":
      return planStream(spec, tracks, capabilities);
    default:
      return assertNever(spec);
  }
}

const textOutput = ({ index, container }: TextOutput): PlannedOutput => ({
  output: index,
  files: [`${index}.${container}`],
  tracks: [],
});

/** A command for each way to read the source, and more commands for outputs that cannot share a decode. */
function commandsOf(plans: readonly SpecifiedPlan[], source: Source): PlannedCommand[] {
  const seeking = imagesBySeeking(plans, source.tracks.format);
  const inTwoPasses = plans.filter(({ firstPass }) => firstPass !== undefined);
  const unpacked = plans.filter(({ copied }) => copied?.unpacked);
  const alone = [...seeking, ...inTwoPasses, ...unpacked];
  const together = plans.filter((plan) => !alone.some(({ spec }) => spec === plan.spec));
  const [, ...apart] = Map.groupBy(together.filter(drawsTimecodes), paceOf).values();
  const readings = Map.groupBy(
    together.filter((plan) => !apart.flat().includes(plan)),
    (plan) => readingArguments(plan).join(" "),
  );
  return [
    ...[...readings.values(), ...apart].map((group) => sharedCommand(group, source)),
    ...seeking.map((plan) => seekCommand(plan, source)),
    ...inTwoPasses.map((plan) => twoPassCommand(plan, source)),
    ...unpacked.map((plan) => unpackedCommand(plan, source)),
  ];
}

const drawsTimecodes = ({ branches }: SpecifiedPlan): boolean => branches.some(({ filters }) => hasTimecode(filters));

/** Timecodes of a command are drawn in one graph, whose outputs must need the same frames (`graphArguments`). */
const paceOf = (plan: SpecifiedPlan): string =>
  isVideo(plan) ? [...readingArguments(plan), plan.startMs].join(" ") : `image ${plan.spec.index}`;

/**
 * Plans a common command. ffmpeg's `frame` counts the frames of the first output with frames. So the best measure of
 * the whole command comes first: untrimmed videos, then trimmed videos, then outputs with few frames or none.
 */
function sharedCommand(plans: readonly SpecifiedPlan[], { inputs, tracks }: Source): PlannedCommand {
  const videos = plans.filter(isVideo).toSorted((a, b) => rank(b) - rank(a));
  const others = plans.filter((plan) => !isVideo(plan));
  const images = others.filter((plan) => plan.spec.type === "image");
  const ticks = tracks.video ? progressTicks(videos, images, tracks.video) : null;
  const outputs = [...videos, ...others];
  const parts: readonly CommandPart[] = [
    ...(ticks ? [ticks] : []),
    ...outputs,
    ...(images.length > 0 ? [decodedTimes(Math.max(...images.map(({ endMs }) => endMs ?? 0)))] : []),
  ];
  const devices = plans.map(({ device }) => device);
  const [first] = plans;
  return {
    runs: [planRun({ inputs, tracks, parts, sourceOptions: first ? readingArguments(first) : [], devices })],
    outputs: outputs.map((plan) => plan.planned),
  };
}

/** Options of the source. */
const readingArguments = ({ seekMs = 0, copied }: OutputPlan): string[] => [
  ...(copied?.options ?? []),
  ...(seekMs === 0 ? [] : ["-ss", seconds(seekMs)]),
];

const rank = ({ endMs }: SpecifiedPlan): number => endMs ?? Number.MAX_VALUE;
const isVideo = ({ spec, branches }: SpecifiedPlan): boolean => spec.type !== "image" && branches.length > 0;

/** Each pass reads the source from its start. The second pass starts when the first has measured all of it. */
function twoPassCommand(plan: SpecifiedPlan, { inputs, tracks }: Source): PlannedCommand {
  const passes: CommandPart[] = [...(plan.firstPass ? [plan.firstPass] : []), plan];
  const sourceOptions = readingArguments(plan);
  return {
    runs: passes.map((part) => planRun({ inputs, tracks, parts: [part], sourceOptions })),
    outputs: [plan.planned],
  };
}

/** The first run writes each frame of the source to its own packet. */
function unpackedCommand(plan: SpecifiedPlan, { inputs, tracks }: Source): PlannedCommand {
  const file = plan.copied?.unpacked ?? "";
  const streams = [tracks.video, tracks.audio].flatMap((track) => (track ? ["-map", `0:${track.streamIndex}`] : []));
  const argv = [...streams, "-c", "copy", "-bsf:v", UNPACKING, "-f", "avi", file];
  const parts = [{ branches: [], argv, expectedFrames: plan.expectedFrames, endMs: plan.endMs }];
  const copy = { inputs: { source: file }, tracks, parts: [plan], sourceOptions: readingArguments(plan) };
  return { runs: [planRun({ inputs, tracks, parts, sourceOptions: [] }), planRun(copy)], outputs: [plan.planned] };
}

function seekCommand(plan: OutputPlan & { images: SelectedImages }, { inputs, tracks }: Source): PlannedCommand {
  const { images, planned, branches, expectedFrames } = plan;
  const label = branches[0]?.label ?? "";
  const seeked = { output: planned.output, label, images, fileCount: expectedFrames ?? 0 };
  const { neededFrame } = planned;
  // Each input of such a run starts at a timestamp.
  const needed = neededFrame ? { neededFrame: { ...neededFrame, originMs: lastSeek(images.intervals).firstMs } } : {};
  return { runs: seekRuns(seeked, seekInputs(inputs, tracks)), outputs: [{ ...planned, ...needed }] };
}
