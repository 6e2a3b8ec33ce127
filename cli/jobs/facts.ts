// copra jobs tasks, commands, log, request and metadata.
import { shellCommand } from "#shared/shell-quote.ts";
import type { AttemptView, RunningCommand, TaskView } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { statusColor } from "../terminal/colors.ts";
import { printable, printableJson } from "../terminal/printable.ts";
import { shortened, table } from "../terminal/table.ts";
import { durationText } from "../terminal/values.ts";

export const jobTasks: Run = async (context, [id = ""]) => {
  const { output, now, signal, copra } = await clientOf(context);
  const list = await copra.jobs.tasks(id, { signal });
  const { bold } = output.colors;
  output.data(list, () =>
    [
      table([
        ["TASK", "STATUS", "", "NODE", "TIME", "PART", "SPEED", "OUTPUTS"].map(bold),
        ...list.tasks.map((task) => taskRow(task, now(), (status) => statusColor(status, output.colors))),
      ]),
      ...(list.attempts.length > 0
        ? ["", table([["ATTEMPT", "NODE", "TIME", "OUTCOME", ""].map(bold), ...list.attempts.map(attemptRow)])]
        : []),
    ].join("\n"),
  );
  if ((list.attempts_dropped ?? 0) > 0) output.words(`${list.attempts_dropped} earlier attempts are not kept`);
};

function taskRow(task: TaskView, nowMs: number, color: (status: string) => string): string[] {
  const { chunk, fps, speed } = task;
  return [
    printable(task.id),
    color(task.status),
    task.status === "running" ? `${Math.floor(task.progress * 100)}% ${task.stage ?? ""}`.trimEnd() : "",
    printable(task.node ?? ""),
    seconds(task.started_at, task.ended_at, nowMs),
    chunk ? `${clock(chunk.from_seconds)}-${clock(chunk.to_seconds)}` : "",
    [fps === undefined ? "" : `${fps.toFixed(1)} fps`, speed === undefined ? "" : `${speed.toFixed(2)}x`]
      .join(" ")
      .trim(),
    shortened(printable(task.outputs.join(" ")), 60),
  ];
}

const attemptRow = ({ task, attempt, node, started_at, ended_at, outcome, reason }: AttemptView): string[] => [
  printable(`${task} #${attempt}`),
  printable(node),
  seconds(started_at, ended_at, 0),
  outcome,
  printable(reason ?? ""),
];

function seconds(from: string | undefined, to: string | undefined, nowMs: number): string {
  if (from === undefined) return "";
  return durationText(((to === undefined ? nowMs : Date.parse(to)) - Date.parse(from)) / 1000);
}

/** Formats seconds as `1:02:03.5`. */
function clock(total: number): string {
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const rest = (total % 60).toFixed(1).padStart(4, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

type Shown = Pick<RunningCommand, "task" | "attempt" | "node" | "argv" | "seconds">;

/** A command as a paragraph: its task, its end, and the end of its output. */
function commandText({ task, attempt, node, argv, seconds }: Shown, end: string, tail = ""): string {
  const head = `${printable(`# ${task} #${attempt} on ${node}, ${durationText(seconds)}`)}${end}`;
  const command = shellCommand(argv.map((argument) => printable(argument)));
  return [head, command, ...(tail ? [printable(tail)] : [])].join("\n");
}

export const jobCommands: Run = async (context, [id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const list = await copra.jobs.commands(id, { signal });
  const { red } = output.colors;
  output.data(list, () =>
    list.commands
      .map((command) => {
        const { exit_code: exitCode, signal, stderr_tail: tail } = command;
        const end = exitCode === 0 ? "" : red(exitCode === null ? ` ${signal ?? "no exit code"}` : ` exit ${exitCode}`);
        return commandText(command, end, tail);
      })
      .join("\n\n"),
  );
};

export const jobLog: Run = async (context, [id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const running = await copra.jobs.running(id, { signal });
  output.data(running, () => running.commands.map((command) => commandText(command, "", command.output)).join("\n\n"));
  if (running.commands.length === 0) output.words("No node runs ffmpeg for this job now");
};

export const jobRequest: Run = async (context, [id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const stored = await copra.jobs.request(id, { signal });
  output.data(stored, () => printableJson(stored.request, 2));
  if (stored.left_out.length > 0) output.words(`Left out, because it is secret: ${stored.left_out.join(", ")}`);
};

export const jobMetadata: Run = async (context, [id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const response = await copra.jobs.metadata(id, undefined, { signal });
  output.data(response, () => printableJson(response.metadata, 2));
};
