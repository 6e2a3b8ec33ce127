// From what a source is and what was asked for to the ffmpeg commands that make all outputs.
import type { Failure } from "../errors.ts";
import type { MediaProbe } from "../media-probe.ts";
import type { OutputSpec } from "../output-spec.ts";
import { ALLOWED_DEMUXERS } from "./demuxers.ts";
import { filterGraph } from "./filter-graph.ts";
import type { CommandPart, OutputPlan, PlanResult } from "./output-plan.ts";
import { MAX_DECODED_PIXELS } from "./picture-limits.ts";
import { planImages } from "./plan-images.ts";
import { planVideo } from "./plan-video.ts";
import type { PlannedCommand } from "./planned-command.ts";
import { progressGoal, progressTicks } from "./progress-ticks.ts";
import { chooseTracks, type SourceTracks } from "./source-tracks.ts";
import { unsupported } from "./unsupported.ts";

export type EncodePlan = {
  /** Independent of each other; none when every output was refused. */
  readonly commands: readonly PlannedCommand[];
  readonly refusals: readonly { readonly output: number; readonly failure: Failure }[];
};

export type EncodeRequest = {
  /** The absolute path of a local file. */
  readonly source: string;
  readonly probe: MediaProbe;
  readonly outputs: readonly OutputSpec[];
};

/** Plans all outputs of one source: one command for all that can share a decode. */
export function planEncode({ source, probe, outputs }: EncodeRequest): EncodePlan {
  const tracks = chooseTracks(probe);
  const results = outputs.map((spec) => ({ spec, result: planOutput(spec, tracks) }));
  const refusals = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.failure }],
  );
  const shared = results.flatMap(({ spec, result }) => (result.ok ? [{ spec, ...result.plan }] : []));
  return { commands: shared.length === 0 ? [] : [sharedCommand(source, tracks, shared)], refusals };
}

function planOutput(spec: OutputSpec, tracks: SourceTracks): PlanResult {
  const failure = unsupported(spec);
  if (failure) return { ok: false, failure };
  switch (spec.type) {
    case "video":
      return planVideo(spec, tracks);
    case "image":
      return planImages(spec, tracks);
    default:
      throw new Error(`No planner for ${spec.type}`);
  }
}

/**
 * ffmpeg's `frame` counts the pictures of the first output that has any, so the best measure of the whole goes first:
 * films, uncut ones before cut ones, then what has no frames to count or few.
 */
function sharedCommand(source: string, tracks: SourceTracks, plans: readonly SpecifiedPlan[]): PlannedCommand {
  const films = plans.filter(isFilm).toSorted((a, b) => rank(b) - rank(a));
  const others = plans.filter((plan) => !isFilm(plan));
  const images = others.filter((plan) => plan.spec.type === "image");
  const ticks = tracks.video ? progressTicks(films, images, tracks.video) : null;
  const outputs = [...films, ...others];
  const parts: readonly CommandPart[] = ticks ? [ticks, ...outputs] : outputs;
  const run = {
    argv: [
      ...["-y", "-nostdin", "-hide_banner", "-v", "error", "-nostats", "-progress", "pipe:1", "-stats_period", "0.5"],
      ...["-protocol_whitelist", "file", "-format_whitelist", ALLOWED_DEMUXERS],
      ...resizingArguments(tracks),
      ...["-max_pixels:v", String(MAX_DECODED_PIXELS), "-i", `file:${source}`],
      ...graphArguments(tracks, parts),
      ...parts.flatMap((part) => part.argv),
    ],
    ...progressGoal(parts),
  };
  return { runs: [run], outputs: outputs.map((plan) => plan.planned) };
}

/**
 * A picture size that changes on the way starts the filters anew: 7.0 then loses the frames that were under way, and
 * pictures are counted from the start again. So the filters stay as they are, and `scale`, which is the first of ours
 * that cares, follows by itself. Not so where ffmpeg turns the picture before that, because its filters for turning read
 * beyond the edge of a smaller picture; and not for sound, where nothing follows.
 */
const resizingArguments = ({ video }: SourceTracks): string[] =>
  video && video.facts.rotation !== 0 ? [] : ["-reinit_filter:v", "0"];

type SpecifiedPlan = OutputPlan & { readonly spec: OutputSpec };

const rank = ({ endMs }: SpecifiedPlan): number => endMs ?? Number.MAX_VALUE;
const isFilm = ({ spec, branch }: SpecifiedPlan): boolean => spec.type === "video" && branch !== null;

function graphArguments({ video }: SourceTracks, parts: readonly CommandPart[]): string[] {
  const branches = parts.flatMap((part) => (part.branch ? [part.branch] : []));
  return video && branches.length > 0 ? ["-filter_complex", filterGraph(video.streamIndex, branches)] : [];
}
