// copra jobs follow: shows a job's progress until it ends.
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { durationOption, textOption, withTimeout } from "../context.ts";
import { followToEnd } from "../follow/follow-job.ts";
import { hintToFollow, reportEnd } from "../follow/report.ts";
import { saveResults } from "../results/save-results.ts";

export const followJob: Run = async (context, [id = ""], options) => {
  const { copra, target } = await clientOf(context);
  const timeout = withTimeout(context.signal, durationOption(options, "timeout", "--timeout"));
  try {
    const job = await followToEnd(context, copra, id, timeout.signal);
    const folder = textOption(options, "output");
    if (folder !== undefined && job.status === "job.completed") {
      return await saveResults(context, copra, { job, target, folder, prefix: "", signal: timeout.signal });
    }
    return reportEnd(context, job);
  } catch (error) {
    hintToFollow(context, id, timeout.signal.aborted ? timeout.signal.reason : error);
    throw error;
  } finally {
    timeout.release();
  }
};
