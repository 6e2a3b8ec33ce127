// The node: takes assignments from the hub as long as it has slots, and stops without losing work.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import {
  type Assignment,
  type Capabilities,
  type SlotClass,
  UploadsAnswer,
  type UploadsRequest,
} from "#shared/protocol.ts";
import type { NodeConfig } from "./config.ts";
import type { Tool } from "./ffmpeg/locate.ts";
import { type ControlPlane, controlPlaneAt } from "./link/control-plane.ts";
import { openLink } from "./link/node-link.ts";
import { openReports } from "./link/reports.ts";
import { createProgressBoard } from "./work/progress.ts";
import { runTask, type StopReason } from "./work/run-task.ts";
import { createSlots } from "./work/slots.ts";
import { createSourceCache } from "./work/source-cache.ts";
import type { NodeDeps } from "./work/task-deps.ts";

export type NodeIdentity = { nodeId: string; session: string };
export type NodeSetup = {
  config: NodeConfig;
  identity: NodeIdentity;
  capabilities: Capabilities;
  tools: { ffmpeg: Tool; ffprobe: Tool };
  log: Logger;
};

export interface EncoderNode {
  /** Takes nothing new and resolves when all that runs has ended. */
  drain(): Promise<void>;
  /** Stops what runs and hands it back. */
  handBack(): void;
}

type Running = { assignment: Assignment; abort: AbortController; done: Promise<void> };

/** Starts a node that works until it is drained. */
export async function startNode({ config, identity, capabilities, tools, log }: NodeSetup): Promise<EncoderNode> {
  const { workFolder } = config;
  const controlPlane = controlPlaneAt(config.url, config.token);
  const reports = openReports(join(workFolder, "spool"), controlPlane, log);
  // What an earlier process left half-done is worth nothing; its finished reports are.
  await rm(join(workFolder, "sources"), { recursive: true, force: true });
  await rm(join(workFolder, "tasks"), { recursive: true, force: true });
  const deps: NodeDeps = {
    ...tools,
    sources: createSourceCache(join(workFolder, "sources")),
    workFolder: join(workFolder, "tasks"),
    allowPrivate: config.allowPrivate,
    maxSourceBytes: config.maxSourceBytes,
    log,
  };
  const slots = createSlots(config.slots);
  const running = new Map<LeaseId, Running>();
  const board = createProgressBoard((items) => link.send({ type: "progress", items }));

  const start = (assignment: Assignment): void => {
    const { lease, token, task } = assignment;
    if (running.has(lease)) return;
    const slotClass: SlotClass = task.kind === "inspect" ? "inspect" : "encode";
    const abort = new AbortController();
    slots.take(slotClass);
    board.note(lease, token, "transferring", 0);
    const taskDeps = {
      ...deps,
      log: log.child({ lease }),
      assignment,
      signal: abort.signal,
      progress: (stage: Parameters<typeof board.note>[2], fraction: number) =>
        board.note(lease, token, stage, fraction),
      askUploads: (files: UploadsRequest["files"]) => askUploads(controlPlane, assignment, files, abort.signal),
    };
    const done = runTask(taskDeps, reports).finally(() => {
      board.drop(lease);
      running.delete(lease);
      const before = slots.free()[slotClass];
      slots.give(slotClass);
      const granted = slots.free()[slotClass] - before;
      link.send({ type: "slots", grant: { inspect: 0, encode: 0, [slotClass]: granted }, released: [lease] });
    });
    running.set(lease, { assignment, abort, done });
  };

  const drain = async (): Promise<void> => {
    slots.close();
    link.send({ type: "bye" });
    await Promise.all([...running.values()].map(({ done }) => done));
    link.close();
    board.close();
    await deps.sources.clear();
  };

  const link = openLink(
    { url: config.url, token: config.token, log },
    {
      hello: () => ({
        ...identity,
        capabilities,
        slots: slots.free(),
        running: [...running.values()].map(({ assignment: { lease, token } }) => ({ lease, token })),
      }),
      assign: start,
      cancel: (lease) => running.get(lease)?.abort.abort("cancelled" satisfies StopReason),
      drain: () => void drain(),
      welcome: (progressEveryMs) => board.every(progressEveryMs),
    },
  );
  void reports.resume();
  return {
    drain,
    handBack: () => {
      for (const { abort } of running.values()) abort.abort("handed-back" satisfies StopReason);
    },
  };
}

const ASK_RETRY = { firstMs: 250, maxMs: 10_000 };

/** Asks for signed uploads until the control plane answers. */
async function askUploads(
  controlPlane: ControlPlane,
  { lease, token }: Assignment,
  files: UploadsRequest["files"],
  signal: AbortSignal,
): Promise<UploadsAnswer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await controlPlane.post(lease, "uploads", { token, files }, signal);
    if (answer.kind === "taken") return UploadsAnswer.parse(answer.body);
    if (answer.kind === "superseded") throw new AppError("lease_superseded", "The job no longer wants this work");
    if (answer.kind === "refused")
      throw new AppError("node_failed", `The control plane refused to sign uploads: ${answer.message}`);
    await sleep(backoffMs(attempt, ASK_RETRY, Math.random), undefined, { signal });
  }
}
