// From what a source is and what was asked for to one ffmpeg command that decodes once and makes all outputs.
import { assertNever, type Failure } from "../errors.ts";
import type { MediaProbe } from "../media-probe.ts";
import type { OutputSpec } from "../output-spec.ts";
import { ALLOWED_DEMUXERS } from "./demuxers.ts";
import { filterGraph } from "./filter-graph.ts";
import type { OutputPlan, PlannedOutput, PlanResult } from "./output-plan.ts";
import { planImages } from "./plan-images.ts";
import { planVideo } from "./plan-video.ts";
import { chooseTracks, type SourceTracks } from "./source-tracks.ts";

export type { PlannedOutput } from "./output-plan.ts";

export type EncodePlan = {
  /** Null when every output was refused. */
  readonly command: PlannedCommand | null;
  readonly refusals: readonly { readonly output: number; readonly failure: Failure }[];
};

export type PlannedCommand = {
  /** ffmpeg's arguments. It runs in an empty working folder: output names are relative to that. */
  readonly argv: readonly string[];
  /** In the order of the command, which need not be that of the request. */
  readonly outputs: readonly PlannedOutput[];
  /** What `frame` of `-progress` counts up to; null when unknown, or when other outputs go on long after that. */
  readonly expectedFrames: number | null;
  /** What `out_time` of `-progress` runs to: the end of the longest output; null when unknown. */
  readonly durationMs: number | null;
};

/** A first output that ends before this share of the longest one is no measure of the whole. */
const WHOLE_SHARE = 0.9;

/** Plans all outputs of one source as one command. `source` is the absolute path of a local file. */
export function planEncode(request: { source: string; probe: MediaProbe; outputs: readonly OutputSpec[] }): EncodePlan {
  const tracks = chooseTracks(request.probe);
  const results = request.outputs.map((spec) => ({ spec, result: planOutput(spec, tracks) }));
  const refusals = results.flatMap(({ spec, result }) =>
    result.ok ? [] : [{ output: spec.index, failure: result.failure }],
  );
  const plans = results
    .flatMap(({ spec, result }) => (result.ok ? [{ plan: result.plan, rank: progressRank(spec, result.plan) }] : []))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ plan }) => plan);
  return { command: plans.length === 0 ? null : command(request.source, tracks, plans), refusals };
}

function planOutput(spec: OutputSpec, tracks: SourceTracks): PlanResult {
  switch (spec.type) {
    case "video":
      return planVideo(spec, tracks);
    case "image":
      return planImages(spec, tracks);
    default:
      return assertNever(spec);
  }
}

/** ffmpeg's `frame` counts the pictures of the first output that has any: the best measure goes first. */
function progressRank(spec: OutputSpec, plan: OutputPlan): number {
  if (plan.branch === null || spec.type === "image") return 2;
  return spec.durationMs === null ? 0 : 1;
}

function command(source: string, tracks: SourceTracks, plans: readonly OutputPlan[]): PlannedCommand {
  const branches = plans.flatMap((plan) => (plan.branch ? [plan.branch] : []));
  const graph = tracks.video && branches.length > 0 ? filterGraph(tracks.video.streamIndex, branches) : null;
  return {
    argv: [
      ...["-nostdin", "-hide_banner", "-v", "error", "-nostats", "-progress", "pipe:1", "-stats_period", "0.5"],
      ...["-protocol_whitelist", "file", "-format_whitelist", ALLOWED_DEMUXERS, "-i", `file:${source}`],
      ...(graph === null ? [] : ["-filter_complex", graph]),
      ...plans.flatMap((plan) => plan.argv),
    ],
    outputs: plans.map((plan) => plan.planned),
    ...progressGoal(plans),
  };
}

function progressGoal(plans: readonly OutputPlan[]): Pick<PlannedCommand, "expectedFrames" | "durationMs"> {
  const ends = plans.map((plan) => plan.endMs);
  const known = ends.filter((end) => end !== null);
  const durationMs = known.length < ends.length || known.length === 0 ? null : Math.max(...known);
  const first = plans.find((plan) => plan.branch !== null);
  const wholeMs = known.length === 0 ? 0 : Math.max(...known);
  const measuresAll = first && (first.endMs === null || first.endMs >= wholeMs * WHOLE_SHARE);
  return { expectedFrames: measuresAll ? first.expectedFrames : null, durationMs };
}
