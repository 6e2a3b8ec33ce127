// Leaves out videos of streams that save few bits, before anything is encoded.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { similarVideos } from "#shared/plan/target/similar-videos.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { FoundTargets } from "./find-targets.ts";

/** The outputs with their rate factors; streams that were asked to do without similar variants know which these are. */
export function withoutSimilar(
  { probe, outputs }: TaskOf<"encode">,
  { outputs: found, kbpsOf }: FoundTargets,
): OutputSpec[] {
  const source = chooseTracks(probe);
  return found.map((spec) => {
    const requested = outputs.find(({ index }) => index === spec.index);
    if (spec.type !== "httpstream" || requested?.type !== "httpstream") return spec;
    const dropped = similarVideos(requested, source, (_, video) => kbpsOf(spec.index, video));
    return dropped.length > 0 ? { ...spec, dropped } : spec;
  });
}
