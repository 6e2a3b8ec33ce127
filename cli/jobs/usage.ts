// copra usage.
import type { Usage } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText, durationText } from "../terminal/values.ts";

type Day = Usage["total"];

export const showUsage: Run = async (context, _args, options) => {
  const { output, signal } = context;
  const [from, to] = (["from", "to"] as const).map((name) => {
    const day = textOption(options, name);
    if (day !== undefined && !/^\d{4}-\d\d-\d\d$/.test(day))
      throw usageError(`--${name} must be a day such as 2026-11-22`);
    return day;
  });
  const { copra } = await clientOf(context);
  const by = textOption(options, "by");
  const range = { ...(from ? { from } : {}), ...(to ? { to } : {}), ...(by ? { by } : {}) };
  const usage = await copra.usage(range, { signal });
  const { bold } = output.colors;
  output.data(usage, () =>
    table([
      [by ? "VALUE" : "DAY", "JOBS", "AUDIO", "SD", "HD", "UHD", "NODE TIME", "STORED"].map(bold),
      ...(usage.values?.map(({ value, ...numbers }) => row(printable(value), numbers)) ??
        usage.days
          .filter(({ node_seconds, jobs }) => node_seconds > 0 || countOf(jobs) > 0)
          .map(({ day, ...numbers }) => row(day, numbers))),
      row("total", usage.total).map(bold),
    ]),
  );
};

function row(day: string, { jobs, output_seconds, node_seconds, stored_bytes }: Day): string[] {
  const { audio, sd, hd, uhd } = output_seconds;
  return [day, String(countOf(jobs)), ...[audio, sd, hd, uhd, node_seconds].map(durationText), bytesText(stored_bytes)];
}

const countOf = (jobs: Day["jobs"]): number => Object.values(jobs).reduce((sum, number) => sum + number, 0);
