// The node: takes assignments from the hub as long as it has slots, and stops without losing work.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type Logger, messageOf } from "#shared/log.ts";
import type { Capabilities } from "#shared/protocol/protocol.ts";
import { limiter } from "./async/in-parallel.ts";
import type { NodeConfig } from "./config.ts";
import type { Tool } from "./ffmpeg/build/locate.ts";
import { DISK_RESERVE_BYTES } from "./ffmpeg/limits.ts";
import { freeBytes } from "./ffmpeg/machine.ts";
import { askScratch, askUploads } from "./link/asks.ts";
import { controlPlaneAt } from "./link/control-plane.ts";
import { openLink } from "./link/node-link.ts";
import { openReports } from "./link/reports.ts";
import { guardedAgent } from "./source/fetch/address-guard.ts";
import { createProgressBoard } from "./task/progress.ts";
import { createRangedSources } from "./task/ranged-sources.ts";
import { createSlots } from "./task/slots.ts";
import { createSourceCache } from "./task/source-cache.ts";
import type { NodeDeps } from "./task/task-deps.ts";
import { createUploadSlots, type UploadSlots } from "./task/upload-slots.ts";
import { createLeases } from "./tasks/leases.ts";
import { storageAddressRefusal } from "./upload/storage-failure.ts";

/** Tasks that upload after they gave their encoder back. */
const UPLOAD_SLOTS = 8;
/** Leases that a hello names at the most (NodeFrame). */
const MAX_RUNNING = 64;
/** With less room than this on the disk no more work is taken before an upload has ended. */
const UPLOAD_ROOM_BYTES = 4 * DISK_RESERVE_BYTES;

export type NodeIdentity = { nodeId: string; session: string };
export type NodeSetup = {
  config: NodeConfig;
  identity: NodeIdentity;
  capabilities: Capabilities;
  tools: { ffmpeg: Tool; ffprobe: Tool };
  log: Logger;
};

/** Sources that are looked at, one process of ffprobe each, at the same time. */
const PROBES = 4;

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
    ...{ slots, uploads: uploadSlots(config), board, reports, log },
    send: (frame) => link.send(frame),
    taskDeps: (own) => {
      const { lease, token } = own.assignment;
      const line = { controlPlane, lease, token, signal: own.signal };
      return {
        ...deps,
        ...own,
        log: log.child({ lease }),
        askUploads: (files) => askUploads(line, files),
        askScratch: (puts, gets) => askScratch(line, puts, gets),
      };
    },
  });

  const stop = async (): Promise<void> => {
    const idle = leases.drain();
    link.send({ type: "bye" });
    await idle;
    link.close();
    board.close();
    await deps.sources.clear();
    await deps.rangedSources.close();
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
      yield: leases.yield,
      drain: () => void drain().catch(logged("Node not drained cleanly")),
      welcome: (progressEveryMs) => board.every(progressEveryMs),
    },
  );
  void reports.resume().catch(logged("Reports of an earlier process not sent"));
  return { drain, handBack: leases.handBack };
}

/** Tasks that only upload: they count with all others that a hello may name. */
function uploadSlots({ slots, workFolder }: NodeConfig): UploadSlots {
  const left = MAX_RUNNING - slots.inspect - slots.encode;
  return createUploadSlots(Math.max(0, Math.min(UPLOAD_SLOTS, left)), async () => {
    return (await freeBytes(workFolder)) >= UPLOAD_ROOM_BYTES;
  });
}

/** What the tasks share. What an earlier process left half-done is worth nothing; its finished reports are. */
async function nodeDeps({ config, tools, capabilities, log }: NodeSetup): Promise<NodeDeps> {
  const { workFolder, allowPrivate, maxSourceBytes } = config;
  const [sources, tasks, ranged] = [join(workFolder, "sources"), join(workFolder, "tasks"), join(workFolder, "ranged")];
  for (const folder of [sources, tasks, ranged]) await rm(folder, { recursive: true, force: true });
  return {
    ...tools,
    capabilities,
    sources: createSourceCache(sources),
    probing: limiter(PROBES),
    rangedSources: createRangedSources(ranged, allowPrivate),
    workFolder: tasks,
    storages: guardedAgent({ allow: allowPrivate, refuse: storageAddressRefusal }),
    allowPrivate,
    maxSourceBytes,
    log,
  };
}
