// The outputs of a task that its node still has to make. Pure.
import { isTerminalOutput } from "#shared/job/output-status.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { JobState } from "./job-state.ts";
import type { TaskState } from "./task-state.ts";

export type MadeReport = OutputReport & { status: "made" };

/** The reports of outputs that are in the storage and wait for it to complete their multipart uploads. */
export const madeReports = ({ reports }: Pick<TaskState, "reports">): MadeReport[] =>
  reports.filter((report): report is MadeReport => report.status === "made");

/** The outputs of a task that have not ended and are not in the storage. */
export function remainingOutputs(state: JobState, task: Pick<TaskState, "outputs" | "reports">): number[] {
  const madeOutputs = new Set(madeReports(task).map(({ output }) => output));
  const hasEnded = (index: number): boolean => isTerminalOutput(state.outputs[index]?.phase ?? "waiting");
  return task.outputs.filter((index) => !madeOutputs.has(index) && !hasEnded(index));
}
