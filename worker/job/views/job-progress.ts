// The progress of a job, as a fraction of its work.

import { assertNever } from "#shared/errors.ts";
import type { VideoFormat } from "#shared/format/format-spec.ts";
import { clipLength } from "#shared/job/clip.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { isTerminalOutput } from "#shared/job/output-status.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import type { TaskStage } from "#shared/protocol/frames.ts";
import { activeWork, rangesOf } from "../chunks/chunk-work.ts";
import type { ChunkWork } from "../state/chunk-state.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import { withProgress } from "../state/pace.ts";
import { madeReports } from "../state/remaining-outputs.ts";
import type { TaskState } from "../state/task-state.ts";

/** Share of fetching and probing the source in the whole, and share of encoding in the work of an output. */
const INPUT_SHARE = 0.05;
const ENCODING_SHARE = 0.95;

/** Finished share of the work, 0 to 1. Outputs are weighted by their pixels. */
export function jobFraction(state: JobState): number {
  // After a late failure of the input, outputs may wait for their uploads to be completed.
  if (state.input.status !== "input.transferred" && state.input.status !== "input.failed") {
    const inspect = state.tasks.find((task) => task.kind === "inspect");
    return INPUT_SHARE * (inspect?.fraction ?? 0);
  }
  let done = 0;
  let total = 0;
  for (const [index, spec] of state.spec.outputs.entries()) {
    const weight = outputWeight(spec, state.outputs[index], state.input.probe);
    done += weight * outputFraction(state, index);
    total += weight;
  }
  return INPUT_SHARE + (1 - INPUT_SHARE) * (total > 0 ? done / total : 1);
}

/** Notes the pace of a job whose outputs are encoded, after a report of progress. */
export function withPace(state: JobState, now: number): JobState {
  const fraction = jobFraction(state);
  const isEncoded = fraction > INPUT_SHARE || state.tasks.some(({ stage }) => stage === "encoding");
  if (state.input.status !== "input.transferred" || !isEncoded) return state;
  return { ...state, pace: withProgress(state.pace, fraction, now) };
}

/** Progress of an output, 0 to 1; 1 if it has ended, even if it failed. */
export function outputFraction(state: JobState, index: number): number {
  const output = state.outputs[index];
  if (!output || isTerminalOutput(output.phase)) return 1;
  const work = activeWork(state);
  if (work?.outputs.includes(index)) return chunkedFraction(state, work);
  const task = state.tasks.findLast((candidate) => candidate.kind === "encode" && candidate.outputs.includes(index));
  if (task && madeReports(task).some((report) => report.output === index)) return 1;
  return task ? taskFraction(task) : 0;
}

function taskFraction(task: TaskState): number {
  const shares: Record<TaskStage, number> = {
    transferring: 0,
    encoding: ENCODING_SHARE * task.fraction,
    uploading: ENCODING_SHARE + (1 - ENCODING_SHARE) * task.fraction,
    holding: ENCODING_SHARE + (1 - ENCODING_SHARE) * task.fraction,
  };
  if (task.phase === "completing") return 1;
  return task.phase === "leased" && task.stage ? shares[task.stage] : 0;
}

/** Work of an output, in arbitrary units: frames × pixels, so seconds × pixels at the source's rate. */
function outputWeight(spec: OutputSpec, output: OutputState | undefined, probe: MediaProbe | null): number {
  const facts = probe && sourceFacts(probe);
  const seconds = (clipLength(spec.clip, facts?.durationMs ?? null) ?? 1000) / 1000;
  const fullWidth = facts?.video?.displayWidth ?? 1;
  const fullHeight = facts?.video?.displayHeight ?? 1;
  const pixels = (size: { width: number | null; height: number | null }): number => {
    const scale = size.height ? size.height / fullHeight : size.width ? size.width / fullWidth : 1;
    return (size.width ?? fullWidth * scale) * (size.height ?? fullHeight * scale);
  };
  // An audio track weighs about as much as video of 100×100 pixels at 25 fps.
  const trackWeight = ({ video }: Pick<VideoFormat, "video">): number => 25 * (video ? pixels(video.size) : 10_000);
  switch (spec.type) {
    case "image":
      return (output?.images?.frames ?? seconds) * pixels(spec.size);
    case "video":
      return Math.min(seconds, (spec.durationMs ?? Number.POSITIVE_INFINITY) / 1000) * trackWeight(spec);
    case "text":
      return seconds;
    case "httpstream":
      return seconds * spec.variants.reduce((sum, variant) => sum + trackWeight(variant), 0);
    default:
      return assertNever(spec);
  }
}

/** Shares of the whole: the chunks by their frames, the audio, and joining with uploading. */
const AUDIO_SHARE = 0.02;
const JOIN_SHARE = 0.13;
const CHUNKS_SHARE = 1 - AUDIO_SHARE - JOIN_SHARE;

/** Progress of outputs that are made of chunks, 0 to 1. */
function chunkedFraction({ tasks, chunkResults }: JobState, work: ChunkWork): number {
  const best = (kind: TaskState["kind"], chunk: number | null = null): number =>
    Math.max(0, ...tasks.filter((task) => task.kind === kind && task.chunk === chunk).map(taskFraction));
  const shares = rangesOf(work).map(({ index, frames }) => {
    return (frames / work.video.frames) * (chunkResults[index] ? 1 : best("chunk", index));
  });
  const chunks = shares.reduce((sum, share) => sum + share, 0);
  const audio = work.audioOutputs.length === 0 || work.audio !== null ? 1 : best("audio");
  return CHUNKS_SHARE * chunks + AUDIO_SHARE * audio + JOIN_SHARE * best("join");
}
