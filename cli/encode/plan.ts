// copra plan: what a job would do.
import { shellCommand } from "#shared/shell-quote.ts";
import type { DryRunPlan } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import type { Context, Options } from "../context.ts";
import { EXIT, usageError } from "../exit.ts";
import { table } from "../terminal/table.ts";
import { buildJob, newFolder, UPLOADED_LATER, withInput } from "./job-request.ts";
import { probeFile } from "./probe.ts";
import { nameOf, sourceOf } from "./source.ts";

export const plan: Run = async (context, [given], options) => showPlan(context, given, options);

/** Shows the plan of a job for the source, or for that of the job's file. Returns the exit code. */
export async function showPlan(context: Context, given: string | undefined, options: Options): Promise<number> {
  const { env, output, now, signal } = context;
  const { copra, target } = await clientOf(context);
  const source = given === undefined ? null : sourceOf(given, env);
  const name = given === undefined ? "output" : nameOf(given);
  const job = buildJob({ options, name, local: target.local, folder: newFolder(now()) });
  const input = source?.kind === "remote" ? source.input : (job.sections.input ?? (source && UPLOADED_LATER));
  if (!input) throw usageError("Name a source: a file, a URL or s3://bucket/key");
  const probed = source?.kind === "file" ? await probeFile(source.path, env) : null;
  const found = await copra.jobs.plan(withInput(job, input), probed ?? {}, { signal });
  const { refusals: failures } = found;
  output.data(found, () => planText(found, output.colors.bold));
  if (probed === null) output.words(assumption(found.assumed_source));
  return failures.length > 0 ? EXIT.failed : EXIT.done;
}

const assumption = ({ width, height, fps, duration, audio }: DryRunPlan["assumed_source"]): string =>
  `The source was not read. Assumed: ${width}x${height}, ${fps} fps, ${duration} s, ${audio ? "with" : "without"} audio`;

function planText({ outputs, commands, refusals: failures }: DryRunPlan, bold: (text: string) => string): string {
  const rows = outputs.map(({ key, format, path, skipped, condition }) => [
    key,
    format,
    path ?? "",
    skipped ? `skipped: ${condition ?? ""}` : "",
  ]);
  const renditions = outputs.flatMap(({ key, renditions = [] }) =>
    renditions.map(({ video, audio, width, height, fps, packages }) => [
      `  ${key}`,
      video === null ? "audio only" : `${video} ${width ?? ""}x${height ?? ""} ${fps ?? ""} fps`,
      audio ?? "no audio",
      packages.join(", "),
    ]),
  );
  return [
    table([["OUTPUT", "FORMAT", "PATH", ""].map(bold), ...rows]),
    ...(renditions.length > 0 ? ["", table([["RENDITION", "VIDEO", "AUDIO", "IN"].map(bold), ...renditions])] : []),
    ...failures.map(({ key, error }) => `\n${key}: ${error}`),
    ...commands.map((command) => `\n${bold(`# ${command.outputs.join(", ")}`)}\n${shellCommand(command.argv)}`),
  ].join("\n");
}
