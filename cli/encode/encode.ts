// copra encode: creates a job for a source, follows it and saves its results.
import type { Copra, Job } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import type { Target } from "../connection/target.ts";
import type { Options } from "../context.ts";
import { type Context, durationOption, textOption, withTimeout } from "../context.ts";
import { EXIT, endOf, Interrupted, TimedOut, usageError } from "../exit.ts";
import { followToEnd } from "../follow/follow-job.ts";
import { hintToFollow, reportEnd } from "../follow/report.ts";
import { saveResults } from "../results/save-results.ts";
import { ProgressView } from "../terminal/progress-view.ts";
import { bytesText, durationText } from "../terminal/values.ts";
import { type BuiltJob, buildJob, newFolder, UPLOADED_LATER, withInput } from "./job-request.ts";
import { nameOf, type Source, sourceOfCommand } from "./source.ts";
import { uploadFile } from "./upload.ts";

export const encode: Run = async (context, [given], options) => {
  const watched = textOption(options, "watch");
  if (watched !== undefined) {
    if (given !== undefined) throw usageError("Give either a source or --watch");
    const { watchFolder } = await import("./watch.ts");
    return watchFolder(context, watched, (path, signal) => encodeOne({ ...context, signal }, path, options));
  }
  if (options.dryRun === true) return (await import("./plan.ts")).showPlan(context, given, options);
  const timeout = withTimeout(context.signal, durationOption(options, "timeout", "--timeout"));
  try {
    return await encodeOne({ ...context, signal: timeout.signal }, given, options);
  } finally {
    timeout.release();
  }
};

/** Retries of the request that creates a job. Many, because the source may have taken long to upload. */
const RETRIES = 6;
/** Time limit of a cancellation after Ctrl-C. */
const CANCEL_LIMIT_MS = 10_000;

/** Encodes a source. Returns the exit code. */
async function encodeOne(context: Context, given: string | undefined, options: Options): Promise<number> {
  const { env, now, signal } = context;
  const source = sourceOfCommand(given, env, options);
  const upload = uploadView(context);
  const { copra, target } = await clientOf(context, RETRIES);
  const name = given === undefined ? "output" : nameOf(given);
  const built = buildJob({ options, name, local: target.local, folder: newFolder(now()) });
  const input =
    source === null ? built.sections.input : await inputOf(context, source, { copra, target, built, upload });
  if (!input) throw usageError("Name a source: a file, a URL or s3://bucket/key");
  const idempotencyKey = textOption(options, "idempotencyKey");
  const job = await copra.jobs.create(withInput(built, input), {
    signal,
    ...(idempotencyKey ? { idempotencyKey } : {}),
  });
  context.output.words(`Job ${job.id} is created: ${target.url}/dashboard/jobs/${job.id}`);
  if (options.wait === false) {
    context.output.data(job, () => job.id);
    return EXIT.done;
  }
  const ended = await waitFor(context, copra, job.id, options);
  const folder = textOption(options, "output");
  // Save the outputs that exist, even if other outputs failed.
  if (folder !== undefined && ended.outputs.some(({ url, urls }) => url ?? urls)) {
    const { prefix, sections } = built;
    const { outputs, storage, template } = sections;
    // The request of a job from a template is read from the service.
    const request = outputs && storage && template === undefined ? { request: { outputs, storage } } : {};
    return saveResults(context, copra, { job: ended, target, folder, prefix, signal, ...request });
  }
  if (context.output.json) context.output.data(ended, () => "");
  return reportEnd(context, ended);
}

/** Waits for the end of the job and returns it. After Ctrl-C, cancels the job if `--cancel-on-interrupt` is given. */
async function waitFor(context: Context, copra: Copra, id: string, options: Options): Promise<Job> {
  try {
    return await followToEnd(context, copra, id, context.signal, { lines: false });
  } catch (error) {
    const reason = context.signal.aborted ? context.signal.reason : error;
    if (reason instanceof Interrupted && options.cancelOnInterrupt === true) await cancel(context, copra, id);
    else hintToFollow(context, id, reason);
    throw error;
  }
}

async function cancel({ output }: Context, copra: Copra, id: string): Promise<void> {
  try {
    await copra.jobs.cancel(id, { signal: AbortSignal.timeout(CANCEL_LIMIT_MS) });
    output.warn(`The job ${id} is canceled`);
  } catch (error) {
    output.warn(`The job ${id} could not be canceled: ${endOf(error).message}`);
  }
}

type Sending = {
  readonly copra: Copra;
  readonly target: Target;
  readonly built: BuiltJob;
  readonly upload: UploadView;
};

/** Returns the `input` of the request. Uploads a file first, if the service accepts the rest of the request. */
async function inputOf(context: Context, source: Source, { copra, target, built, upload }: Sending): Promise<object> {
  if (source.kind === "remote") return source.input;
  const { env, now, signal, output } = context;
  // Plan first, so that the service rejects a wrong request before hours of uploading.
  await copra.jobs.plan(withInput(built, UPLOADED_LATER), {}, { signal });
  try {
    const id = await uploadFile(source, { copra, target, env, signal, now, ...upload });
    upload.end();
    return { upload: id };
  } catch (error) {
    upload.end();
    const reason = signal.aborted ? signal.reason : error;
    if (reason instanceof Interrupted || reason instanceof TimedOut) {
      output.warn("The upload goes on when you run the same command again");
    }
    throw error;
  }
}

type UploadView = {
  readonly onProgress: (bytes: number) => void;
  readonly onStart: (upload: { readonly size: number }, storedBytes: number) => void;
  end(): void;
};

function uploadView({ output, now }: Context): UploadView {
  const view = new ProgressView({ out: output.stderr, colors: output.wordColors, now, hidden: output.quiet });
  const start = { size: 0, stored: 0, at: now() };
  let done = 0;
  const show = (bytes: number): void => {
    done = bytes;
    const seconds = (now() - start.at) / 1000;
    const rate = seconds > 1 ? `${bytesText(Math.max(0, done - start.stored) / seconds)}/s` : "";
    const detail = `${bytesText(done)} of ${bytesText(start.size)} ${rate}`.trim();
    view.show({ progress: done / start.size, state: "upload", lines: [], detail });
  };
  return {
    onStart: ({ size }, stored) => {
      Object.assign(start, { size, stored, at: now() });
      if (stored === size) output.words("The file was uploaded before");
      else if (stored > 0) output.words(`Continues the upload after ${bytesText(stored)} of ${bytesText(size)}`);
      show(stored);
    },
    onProgress: show,
    end: () => {
      view.end();
      const sent = done - start.stored;
      if (sent > 0) output.words(`Uploaded ${bytesText(sent)} in ${durationText((now() - start.at) / 1000)}`);
    },
  };
}
