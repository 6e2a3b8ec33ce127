// Leaves out videos of streams that save few bits, when their chunks are joined.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { chooseTracks } from "#shared/plan/source/source-tracks.ts";
import { similarVideos } from "#shared/plan/vmaf/similar-videos.ts";
import type { ChunkWork } from "../state/chunk-state.ts";
import type { JobState } from "../state/job-state.ts";

/**
 * An output as it is joined. All of its chunks count, so that each attempt decides the same. If a stream may be played
 * while it is encoded, all variants stay: joining starts before their bitrates are known.
 */
export function withoutSimilar(
  { spec: job, chunkResults }: Pick<JobState, "spec" | "chunkResults">,
  { work, probe }: { readonly work: ChunkWork; readonly probe: MediaProbe },
  spec: OutputSpec,
): OutputSpec {
  if (spec.type !== "httpstream" || work.outputs.some((index) => isLive(job.outputs[index]))) return spec;
  const lengthMs = (work.video.endUs - work.video.startUs) / 1000;
  const kbpsOf = (name: string): number | null => {
    const at = work.layout.findIndex(({ output, track }) => output === spec.index && track === name);
    const sizes = Object.values(chunkResults).map(({ tracks }) => tracks[at]?.[1] ?? 0);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return bytes === 0 || lengthMs <= 0 ? null : (bytes * 8) / lengthMs;
  };
  const dropped = similarVideos(spec, chooseTracks(probe), kbpsOf);
  return dropped.length > 0 ? { ...spec, dropped } : spec;
}

const isLive = (spec: OutputSpec | undefined): boolean => spec?.type === "httpstream" && spec.livePlaylist;
