// Plans the runs of ffmpeg that compare encoded videos with the input of their encoders. Both are compared as a player
// shows them.
import { err, ok, type Result } from "../../result.ts";
import { checkedArguments } from "../command/checked-arguments.ts";
import { branchGraph, graphArguments, overlayUrls } from "../command/filter-graph.ts";
import { openingArguments } from "../command/opening-arguments.ts";
import type { PlannedRun } from "../command/planned-run.ts";
import { filterFailure, VMAF_NEED } from "../filters/filter-needs.ts";
import { networkOf, overlayInputs, sourceInput } from "../runs/plan-run.ts";
import { sourceFailure } from "../source/source-failures.ts";
import { chooseTracks, type VideoTrack } from "../source/source-tracks.ts";
import { type Compared, comparison, planCompared, type QualityRequest, type QualityView } from "./compare-video.ts";

export type QualityPlan = QualityView & { readonly run: PlannedRun };

/** Plans the measurement of an encoded video: see `planQualities`. */
export function planQuality(request: QualityRequest): Result<QualityPlan> {
  const planned = planQualities([request]);
  if (!planned.ok) return planned;
  const { run, views } = planned.value;
  const [view] = views;
  if (!view) throw new Error("Nothing was planned");
  return ok({ ...view, run });
}

export type QualitiesPlan = {
  readonly run: PlannedRun;
  /** In the order of the requests. */
  readonly views: readonly QualityView[];
};

/**
 * Plans the measurement of encoded videos in a single run, which decodes their source once. Each video has its own
 * graph, so that no frames wait for the frames of another video. The requests have the same source. Their videos start
 * at the same place of the source, as the renditions of a stream do. Throws if they start elsewhere, or without any
 * request.
 * The reference is the source with the filters of its encoder's input (trims, rates, deinterlacing, rotation, crops,
 * tone mapping, watermarks). The reference is scaled to its size on the screen instead of the output's size. The
 * padding of the output is cropped. Frames are paired by their times, since the first frame of each. Fails if the
 * encode fails, and if the node's ffmpeg lacks libvmaf.
 */
export function planQualities(requests: readonly QualityRequest[]): Result<QualitiesPlan> {
  const [request] = requests;
  if (!request) throw new Error("Nothing is measured");
  const source = chooseTracks(request.probe);
  const { video: track } = source;
  if (!track) return err(sourceFailure("input_has_no_video"));
  const lacking = filterFailure([VMAF_NEED], request.capabilities);
  if (lacking) return err(lacking);
  const compared: Compared[] = [];
  for (const compare of requests) {
    const result = planCompared(compare, source, track);
    if (!result.ok) return result;
    compared.push(result.value);
  }
  const options = compared[0]?.sourceOptions ?? [];
  if (compared.some(({ sourceOptions }) => sourceOptions.join(" ") !== options.join(" ")))
    throw new Error("Videos with different starts are not measured in one run");
  const branches = compared.map(({ reference }, at) => ({ label: `source${at}`, filters: reference }));
  const urls = overlayUrls(branches);
  const overlays = new Map(urls.map((url, at) => [url, at + 1 + requests.length]));
  const start = `[0:${track.streamIndex}]`;
  const graphs = branches.map((branch, at) => [
    branchGraph(start, branch, overlays),
    ...(compared[at] ? comparison(compared[at], at, request.threads) : []),
  ]);
  const inputs = [
    sourceInput(request, source, options),
    ...requests.map(({ made }) => ({ path: made })),
    ...overlayInputs(urls, request),
  ];
  const run: PlannedRun = {
    argv: checkedArguments([
      ...openingArguments(inputs),
      ...graphArguments(graphs.map((graph) => graph.join(";"))),
      ...graphs.flatMap((_, at) => ["-map", `[measured${at}]`, "-fps_mode", "passthrough", "-f", "null", "-"]),
    ]),
    network: networkOf(request),
    inHardware: false,
    expectedFrames: null,
    durationMs: lengthMs(request, track),
  };
  return ok({ run, views: compared.map(({ view }) => view) });
}

const lengthMs = ({ chunk }: QualityRequest, { durationMs }: VideoTrack): number | null =>
  chunk?.from && chunk.to ? Math.max(0, chunk.to.frameUs - chunk.from.frameUs) / 1000 : durationMs;
