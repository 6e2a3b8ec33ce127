// The node: takes assignments from the hub as long as it has slots, and stops without losing work.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { type Assignment, type Capabilities, UploadsAnswer, type UploadsRequest } from "#shared/protocol.ts";
import type { NodeConfig } from "./config.ts";
import type { Tool } from "./ffmpeg/locate.ts";
import { guardedAgent } from "./input/address-guard.ts";
import { type ControlPlane, controlPlaneAt } from "./link/control-plane.ts";
import { openLink } from "./link/node-link.ts";
import { openReports } from "./link/reports.ts";
import { storageAddressRefusal } from "./upload/storage-failure.ts";
import { createLeases } from "./work/leases.ts";
import { createProgressBoard } from "./work/progress.ts";
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

/** Starts a node that works until it is drained. */
export async function startNode(setup: NodeSetup): Promise<EncoderNode> {
  const { config, identity, capabilities, log } = setup;
  const controlPlane = controlPlaneAt(config.url, config.token);
  const reports = openReports(join(config.workFolder, "spool"), controlPlane, log);
  const deps = await nodeDeps(setup);
  const slots = createSlots(config.slots);
  const board = createProgressBoard((items) => link.send({ type: "progress", items }));
  const leases = createLeases({
    ...{ slots, board, reports, log },
    send: (frame) => link.send(frame),
    taskDeps: (own) => ({
      ...deps,
      ...own,
      log: log.child({ lease: own.assignment.lease }),
      askUploads: (files) => askUploads(controlPlane, own.assignment, files, own.signal),
    }),
  });

  const stop = async (): Promise<void> => {
    const idle = leases.drain();
    link.send({ type: "bye" });
    await idle;
    link.close();
    board.close();
    await deps.sources.clear();
    await deps.storages.close();
  };
  let stopped: Promise<void> | null = null;
  const drain = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  const logged = (what: string) => (error: unknown) => log.error(what, { error: messageOf(error) });

  const link = openLink(
    { url: config.url, token: config.token, log },
    {
      hello: () => ({ ...identity, capabilities, slots: slots.free(), running: leases.running() }),
      assign: leases.start,
      cancel: leases.cancel,
      drain: () => void drain().catch(logged("Node not drained cleanly")),
      welcome: (progressEveryMs) => board.every(progressEveryMs),
    },
  );
  void reports.resume().catch(logged("Reports of an earlier process not sent"));
  return { drain, handBack: leases.handBack };
}

/** What the tasks share. What an earlier process left half-done is worth nothing; its finished reports are. */
async function nodeDeps({ config, tools, capabilities, log }: NodeSetup): Promise<NodeDeps> {
  const { workFolder, allowPrivate, maxSourceBytes } = config;
  const [sources, tasks] = [join(workFolder, "sources"), join(workFolder, "tasks")];
  await rm(sources, { recursive: true, force: true });
  await rm(tasks, { recursive: true, force: true });
  return {
    ...tools,
    capabilities,
    sources: createSourceCache(sources),
    workFolder: tasks,
    storages: guardedAgent({ allow: allowPrivate, refuse: storageAddressRefusal }),
    allowPrivate,
    maxSourceBytes,
    log,
  };
}

const ASK_RETRY = { firstMs: 250, maxMs: 10_000 };
/** Answers that the control plane is broken, over a minute or so, after which a slot is worth more than hope. */
const MAX_BROKEN_ANSWERS = 10;

/** Asks for signed uploads until the control plane answers. Throws AppError(lease_superseded | node_failed). */
async function askUploads(
  controlPlane: ControlPlane,
  { lease, token }: Assignment,
  files: UploadsRequest["files"],
  signal: AbortSignal,
): Promise<UploadsAnswer> {
  let broken = 0;
  for (let attempt = 1; ; attempt++) {
    const answer = await controlPlane.post(lease, "uploads", { token, files }, signal);
    if (answer.kind === "taken") return UploadsAnswer.parse(answer.body);
    if (answer.kind === "superseded") throw new AppError("lease_superseded", "The job no longer wants this work");
    if (answer.kind === "refused")
      throw new AppError("node_failed", `The control plane refused to sign uploads: ${answer.message}`);
    if (answer.kind === "broken" && ++broken === MAX_BROKEN_ANSWERS)
      throw new AppError("node_failed", "The control plane could not sign uploads: it had a problem of its own");
    await sleep(backoffMs(attempt, ASK_RETRY, Math.random), undefined, { signal });
  }
}
