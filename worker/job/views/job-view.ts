// A job as its clients see it.

import { assertNever, type Failure } from "#shared/errors.ts";
import { isTerminalJob } from "#shared/job/job-status.ts";
import type { JobView, OutputView } from "#shared/job/job-view.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import { typeOf } from "#shared/job/output-spec.ts";
import { isTerminalOutput, OUTPUT_STATUS } from "#shared/job/output-status.ts";
import { checkUrl } from "#shared/network/address-policy.ts";
import type { FileName } from "#shared/protocol/uploads.ts";
import { publicUrlOf } from "../../storage/open-store.ts";
import { shownSourceUrl } from "../../storage/source-url.ts";
import type { JobState, OutputState } from "../state/job-state.ts";
import type { TaskState } from "../state/task-state.ts";
import { isQueued, workStateOf } from "../state/work-state.ts";
import { objectOf } from "../uploads/job-files.ts";
import { viewUltrafast } from "./chunk-view.ts";
import { jobFraction, outputFraction } from "./job-progress.ts";

export function viewJob(state: JobState): JobView {
  const { spec } = state;
  const ultrafast = viewUltrafast(state);
  return {
    id: spec.id,
    created_at: contractDate(spec.createdAt),
    completed_at: state.completedAt === null ? null : contractDate(state.completedAt),
    ends_at: endOf(state),
    status: state.status,
    ...workMembers(state),
    progress: `${jobPercent(state)}%`,
    input: { status: state.input.status, ...failureMembers(state.input.failure), source: shownSourceUrl(spec.input) },
    outputs: spec.outputs.map((_, index) => viewOutput(state, index)),
    ...(spec.tags ? { tags: spec.tags } : {}),
    ...(ultrafast ? { ultrafast } : {}),
    ...(spec.template === undefined ? {} : { template: spec.template }),
    ...waitingMembers(state),
  };
}

/** The estimate of a running job is not valid for a job that waits again, and the other way round. */
function endOf(state: JobState): string | null {
  const { endsAt = null, isQueued: isOfQueue } = state.pace ?? {};
  if (endsAt === null || isTerminalJob(state.status) || isQueued(state) !== isOfQueue) return null;
  return contractDate(endsAt);
}

function workMembers(state: JobState): Pick<JobView, "state" | "started_at" | "speed"> {
  const work = workStateOf(state);
  return {
    ...(work === null ? {} : { state: work }),
    ...(state.runningSince === null ? {} : { started_at: contractDate(state.runningSince) }),
    ...speedMembers(state),
  };
}

function speedMembers({ status, completedAt, runningSince, input }: JobState): Pick<JobView, "speed"> {
  const seconds = Number(input.probe?.format.duration);
  if (status !== "job.completed" || completedAt === null || runningSince === null || !(seconds > 0)) return {};
  return { speed: Math.round((100_000 * seconds) / Math.max(1, completedAt - runningSince)) / 100 };
}

const HELD = "its storage, which is unreachable; the finished outputs are held on the node";

/** The requirement of the job that no node meets, or its storage. */
export function waitingMembers({ status, waitingFor, tasks }: JobState): Pick<JobView, "waiting_for"> {
  const isHeld = tasks.some(({ phase, stage }) => phase === "leased" && stage === "holding");
  const missing = waitingFor.encode ?? waitingFor.inspect ?? (isHeld ? HELD : null);
  return missing === null || isTerminalJob(status) ? {} : { waiting_for: missing };
}

/** Progress of a job in whole percent: never lower than a shown percentage, and 100 only at the end. */
export function jobPercent(state: JobState): number {
  if (isTerminalJob(state.status)) return 100;
  return Math.min(99, Math.max(state.shownPercent, Math.floor(jobFraction(state) * 100)));
}

export function viewOutput(state: JobState, index: number): OutputView {
  const spec = state.spec.outputs[index];
  const output = state.outputs[index];
  if (!spec || !output) throw new Error(`The job has no output ${index}`);
  const fraction = outputFraction(state, index);
  return {
    key: spec.key,
    type: typeOf(spec),
    format: spec.format,
    ...(output.phase === "done" ? urlsOf(state, index) : {}),
    ...failureMembers(output.failure),
    status: OUTPUT_STATUS[typeOf(spec)][output.phase],
    ...(fraction > 0 && !isTerminalOutput(output.phase) ? { progress: `${Math.floor(fraction * 100)}%` } : {}),
    ...(output.phase === "done" ? encoderMembers(output) : {}),
    ...liveMembers(state, index),
  };
}

const encoderMembers = ({ encoder, note }: OutputState): { encoder?: string; note?: string } => ({
  ...(encoder === undefined ? {} : { encoder }),
  ...(note === undefined ? {} : { note }),
});

/** URLs of a stream that can be played while its node still encodes it. */
function liveMembers(state: JobState, index: number): Pick<OutputView, "live"> {
  const [spec, output] = [state.spec.outputs[index], state.outputs[index]];
  if (spec?.type !== "httpstream" || !output || isTerminalOutput(output.phase)) return {};
  const lives = state.tasks.flatMap(({ phase, live }) => (phase === "leased" ? live : []));
  const live = lives.find((each) => each.output === index);
  if (!live || !spec.livePlaylist) return {};
  const urls = playlistsOf(spec).toReversed();
  return {
    live: {
      ...Object.fromEntries(urls.map(({ format, file }) => [format, fileUrl(state, index, file)])),
      seconds: live.seconds,
    },
  };
}

/** The URL of an output's file. */
export const fileUrl = (state: JobState, output: number, file: FileName): string =>
  publicUrlOf(state.spec, objectOf(state, { output, file }));

/**
 * Playlists of a task's streams in a bucket, at their public URLs. Folders, receivers of uploads and private hosts have
 * no such URLs.
 */
export function publicPlaylists(state: JobState, { kind, outputs }: Pick<TaskState, "kind" | "outputs">) {
  const { storage, outputs: specs } = state.spec;
  const isStored = (kind === "encode" || kind === "join") && (storage.kind === "s3" || storage.kind === "azure");
  return (isStored ? outputs : []).flatMap((output) => {
    const spec = specs[output];
    if (spec?.type !== "httpstream") return [];
    const playlists = playlistsOf(spec).map(({ format, file }) => ({
      output,
      format,
      url: fileUrl(state, output, file),
    }));
    return playlists.filter(({ url }) => checkUrl(url, "none").ok);
  });
}

/** The URLs of a finished output's files. */
function urlsOf(state: JobState, index: number): Pick<OutputView, "url" | "urls" | "vtt_url"> {
  const [spec, output] = [state.spec.outputs[index], state.outputs[index]];
  if (!spec || !output) throw new Error(`The job has no output ${index}`);
  switch (spec.type) {
    case "video":
    case "text":
      return { url: fileUrl(state, index, 1) };
    case "image":
      return {
        urls: output.files.map((_, at) => fileUrl(state, index, at + 1)),
        ...(spec.vtt ? { vtt_url: fileUrl(state, index, output.files.length) } : {}),
      };
    case "httpstream":
      return {
        urls: playlistsOf(spec).map(({ format, file, segments }) => ({
          format,
          url: fileUrl(state, index, file),
          segments,
        })),
      };
    default:
      return assertNever(spec);
  }
}

export const failureMembers = (failure: Failure | null): { error?: string; error_code?: string } =>
  failure ? { error: failure.message, error_code: failure.code } : {};
