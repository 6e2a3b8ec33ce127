// copra jobs show and copra jobs open.
import type { Job, QueueView } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { CommandError, EXIT } from "../exit.ts";
import { outputUrls } from "../follow/report.ts";
import type { Colors } from "../terminal/colors.ts";
import { statusColor } from "../terminal/colors.ts";
import { openUrl } from "../terminal/open-url.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { apiTime, durationText } from "../terminal/values.ts";
import { tagsText } from "./list.ts";

export const showJob: Run = async (context, [id = ""]) => {
  const { signal, copra } = await clientOf(context);
  const job = await copra.jobs.get(id, { signal });
  // Services of earlier releases lack this route.
  const queue = job.state === "queued" ? await copra.jobs.queue(id, { signal }).catch(() => null) : null;
  context.output.data(job, () => jobText(job, queue, context.output.colors));
};

/** "3 jobs before it, starts in about 4m 00s". */
function queueText({ ahead, starts_in_seconds: seconds }: QueueView): string {
  const begins = seconds === null ? "" : `, starts in about ${durationText(seconds)}`;
  return `${ahead === 0 ? "no job" : ahead === 1 ? "1 job" : `${ahead} jobs`} before it${begins}`;
}

function jobText(job: Job, queue: QueueView | null, colors: Colors): string {
  const { created_at: created, completed_at: completed, ultrafast, waiting_for: waits } = job;
  const took = completed === null ? "" : ` (${durationText((apiTime(completed) - apiTime(created)) / 1000)})`;
  const facts = [
    ["job", job.id],
    ["status", `${statusColor(job.status, colors)} ${job.progress}`],
    ["created", created],
    ...(completed === null ? [] : [["ended", `${completed}${took}`]]),
    ["input", `${statusColor(job.input.status, colors)} ${printable(job.input.error ?? "")}`.trimEnd()],
    ...(job.tags ? [["tags", printable(tagsText(job.tags))]] : []),
    ...(ultrafast ? [["ultrafast", printable(ultrafast.reason ?? `${ultrafast.chunks} chunks`)]] : []),
    ...(queue === null || queue.ahead === null ? [] : [["queue", queueText(queue)]]),
    ...(waits === undefined ? [] : [["waits for", printable(waits)]]),
  ];
  const outputs = job.outputs.map((output) => [
    printable(output.key),
    statusColor(output.status, colors),
    output.progress ?? "",
    printable(output.error ?? output.note ?? output.encoder ?? ""),
  ]);
  const urls = job.outputs.flatMap(outputUrls);
  return [table(facts), "", table(outputs), ...(urls.length > 0 ? ["", ...urls] : [])].join("\n");
}

export const openJob: Run = async (context, [id = ""], options) => {
  const { output, signal, copra } = await clientOf(context);
  const job = await copra.jobs.get(id, { signal });
  const key = textOption(options, "output");
  const ofKey = job.outputs.filter((output) => key === undefined || output.key === key);
  const chosen = ofKey.find((output) => outputUrls(output).length > 0);
  const [url] = chosen ? outputUrls(chosen) : [];
  if (!chosen || url === undefined) {
    throw new CommandError(
      EXIT.notFound,
      key === undefined ? `The job ${id} has no finished output` : `The job ${id} has no finished output "${key}"`,
    );
  }
  output.data({ key: chosen.key, url }, () => url);
  if (options.print !== true && context.input.isTTY && /^https?:/.test(url) && !(await openUrl(url))) {
    throw new CommandError(EXIT.failed, "No browser could be started; the URL is above");
  }
};
