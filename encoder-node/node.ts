// The node: accepts assignments from the hub while it has free slots, and stops without losing work.
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, messageOf } from "#shared/log.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import { Limiter } from "./async/in-parallel.ts";
import type { NodeConfig } from "./config.ts";
import type { Tool } from "./ffmpeg/discover/locate.ts";
import { freeBytes } from "./ffmpeg/run-command.ts";
import type { NodeFolders } from "./folders/node-folders.ts";
import { exitWhenIdle } from "./idle-exit.ts";
import { Leases } from "./leases/leases.ts";
import { type ControlPlane, controlPlaneAt } from "./link/control-plane.ts";
import { HeldLeases } from "./link/held-leases.ts";
import { NodeLink } from "./link/node-link.ts";
import { openReports } from "./link/reports.ts";
import { requestChunks, requestScratch, requestUploads } from "./link/upload-requests.ts";
import { ServiceAccess } from "./network/service-access.ts";
import { storageAgent } from "./network/storage-agent.ts";
import { diskOf, nodeFacts, VERSION } from "./node-facts.ts";
import type { NodeIdentity } from "./node-identity.ts";
import { lowDisk, SOURCE_FOLDER, timedReasons, watchReasons } from "./readiness.ts";
import type { SpeechEngine } from "./speech/engine.ts";
import type { Attributes } from "./tracing/otlp-json.ts";
import { openTracer, type Tracer } from "./tracing/span-exporter.ts";
import { createProgressBoard } from "./workspace/progress.ts";
import { RangedSources } from "./workspace/ranged-sources.ts";
import { usePresignedScratch } from "./workspace/scratch.ts";
import { createSlots, UPLOAD_DISK_BYTES, UploadSlots } from "./workspace/slots.ts";
import { SourceCache } from "./workspace/source-cache.ts";
import type { NodeDeps } from "./workspace/task-deps.ts";

/** Maximum number of leases that run on this node, uploads included. */
const MAX_RUNNING = 64;
/** Tasks that upload after they gave back their encode slot. */
const UPLOAD_SLOTS = 8;
/** Sources that are probed at the same time, by one ffprobe process each. */
const PROBES = 4;
/**
 * Longest wait for the reports of the node's earlier process before the node connects. A job waits at least this long
 * for the node of a lost connection (worker/job/decide/lost-leases.ts).
 */
const RESUME_LIMIT_MS = 10_000;

/** The folder for reports until the control plane has accepted them. */
export const spoolIn = (workFolder: string): string => join(workFolder, "spool");

export type Machine = {
  capabilities: Capabilities;
  tools: { ffmpeg: Tool; ffprobe: Tool };
  /** The operator's folders; none by default. */
  folders?: NodeFolders;
  /** Recognizes speech; none by default. */
  speech?: SpeechEngine | null;
};
export type NodeSetup = {
  config: NodeConfig;
  identity: NodeIdentity;
  /** Finds the tools and their abilities; takes seconds. */
  probe(): Promise<Machine>;
  log: Logger;
};

export interface EncoderNode {
  /**
   * Accepts no new work, and resolves when all work has ended. `withinMs`: the machine is gone after this time. Work
   * that cannot end in time is handed back.
   */
  drain(withinMs?: number | null): Promise<void>;
  /** Resolves when the node has drained: after a call, for the control plane, or because it was idle for long. */
  readonly stopped: Promise<void>;
  /** Stops all work and reports it as failed, so that other nodes do the work. */
  handBack(): void;
  /** Returns the reasons why the node gets no work now; none if it gets work. */
  notReady(): readonly string[];
}

/** Starts a node that works until it is drained. */
export async function startNode(setup: NodeSetup): Promise<EncoderNode> {
  const { config, identity, log } = setup;
  const controlPlane = controlPlaneAt(config.url, config.token);
  const reports = openReports(spoolIn(config.workFolder), controlPlane, log, (report, slot) =>
    link.report(report, slot),
  );
  const held = new HeldLeases(join(config.workFolder, "leases"), log);
  const earlier = await resumeEarlierProcess(setup, controlPlane, held);
  const machine = await setup.probe();
  const access = new ServiceAccess({ url: config.url, allow: config.allowPrivate, log, changed: () => readyChanged() });
  const deps = await nodeDeps(setup, machine, access);
  const tracer = tracerOf(setup);
  const slots = createSlots(config.slots);
  /** Returns the reasons why the node may get no work now. */
  const isWorking = (): boolean => leases.running().length > 0;
  const reasons = (): string[] => [...access.notReady, ...timedReasons(config, isWorking())];
  // Closed until the node reaches the origins that its tasks need.
  slots.close();
  const board = createProgressBoard((items) => link.send({ type: "progress", items }));
  const leases = new Leases({
    slots,
    uploads: uploadSlots(config),
    holding: new Set(),
    board,
    reports,
    held,
    log,
    disk: () => diskOf(config.workFolder),
    send: (frame) => link.send(frame),
    taskDeps: (held) => {
      const { lease, token, jobId } = held.assignment;
      const trace = tracer.task(held.assignment);
      const leaseLog = log.child({ lease, job: jobId, ...(trace.traceId === null ? {} : { trace_id: trace.traceId }) });
      const isOwn = (url: "source" | "storage"): boolean => held.assignment.ownUrls?.includes(url) ?? false;
      const client = { controlPlane, lease, token, signal: held.signal, log: leaseLog, hold: held.hold };
      return {
        ...deps,
        ...held,
        trace,
        log: leaseLog,
        allowSource: isOwn("source") ? access.allow : deps.allowPrivate,
        storages: isOwn("storage") ? access.storages : deps.storages,
        requestUploads: (files) => requestUploads(client, files),
        requestChunks: (from) => requestChunks(client, from),
        requestScratch: usePresignedScratch(held.assignment, (puts, gets) => requestScratch(client, puts, gets)),
      };
    },
  });

  const stop = async (withinMs: number | null): Promise<void> => {
    endWatch();
    endReasons();
    const idle = leases.drain(withinMs);
    link.send({ type: "bye", ...(withinMs === null ? {} : { withinMs }) });
    await idle;
    link.close();
    board.close();
    await deps.rangedSources.close();
    await deps.sources.clear();
    await deps.storages.close();
    await access.close();
    await tracer.close();
  };
  const stopped = Promise.withResolvers<void>();
  let isStopping = false;
  const drain = (withinMs: number | null = null): Promise<void> => {
    if (!isStopping) stop(withinMs).then(stopped.resolve, stopped.reject);
    isStopping = true;
    return stopped.promise;
  };
  await Promise.race([earlier.resumed, sleep(RESUME_LIMIT_MS, undefined, { ref: false })]);
  const link = new NodeLink(
    { url: config.url, token: config.token, log },
    {
      hello: () => ({
        ...identity.hello,
        ...nodeFacts(config, reasons()),
        capabilities: machine.capabilities,
        slots: slots.free(),
        running: leases.running(),
      }),
      assign: (assignment) => leases.start(assignment),
      cancel: (lease) => leases.cancel(lease),
      look: (lease) => link.send({ type: "running", lease, commands: leases.commandsOf(lease) }),
      drain: () => {
        log.info("draining started", { reason: "the control plane requested it" });
        void drain().catch(() => undefined);
      },
      welcome: ({ progressEveryMs, service = [] }) => {
        board.setIntervalMs(progressEveryMs);
        access.welcome(service);
        void identity.keep().catch((error: unknown) => log.error("node name not stored", { error: messageOf(error) }));
      },
      nameInUse: () => identity.rename(),
      pace: (progressEveryMs) => board.setIntervalMs(progressEveryMs),
    },
  );
  const readyChanged = (): void => {
    const notReady = reasons();
    const wasOpen = slots.free().inspect > 0 || slots.free().encode > 0;
    if (notReady.length > 0) slots.close();
    else if (!isStopping) slots.open();
    // A new hello takes back slots that were offered.
    if (notReady.length > 0 && wasOpen) link.restart();
    else link.send({ type: "slots", offered: slots.free(), released: [], notReady });
  };
  const notReady = (): readonly string[] => [
    ...(link.isOpen ? [] : ["not connected to the control plane"]),
    ...(isStopping ? ["draining"] : []),
    ...access.notReady,
    ...lowDisk(config, isWorking()),
  ];
  const isIdle = (): boolean => link.isOpen && earlier.isResumed() && access.notReady.length === 0 && !isWorking();
  const logLowDisk = (): void => {
    for (const reason of lowDisk(config, isWorking())) log.error("node not ready", { reason });
  };
  logLowDisk();
  const endReasons = watchReasons(
    () => timedReasons(config, isWorking()),
    () => {
      logLowDisk();
      readyChanged();
    },
  );
  const endWatch = watchIdle(config.exitWhenIdleMs, isIdle, drain, log);
  return { drain, stopped: stopped.promise, handBack: () => leases.handBack(), notReady };
}

type EarlierProcess = {
  /** Resolves when all reports are delivered. */
  readonly resumed: Promise<void>;
  isResumed(): boolean;
};

/**
 * Starts to deliver the reports of the node's earlier process. It runs before ffmpeg is probed, since the jobs of a
 * lost connection wait ten seconds. It runs before the node connects, since a new session ends the leases of the old
 * session.
 */
async function resumeEarlierProcess(
  { config, log }: NodeSetup,
  controlPlane: ControlPlane,
  held: HeldLeases,
): Promise<EarlierProcess> {
  const reports = openReports(spoolIn(config.workFolder), controlPlane, log);
  // Read before new leases are written.
  const leftOver = await held.leftOver();
  let isResumed = false;
  const resumed = reports
    .resume(leftOver, (lease) => void held.remove(lease))
    .catch((error: unknown) => log.error("spooled reports not sent", { error: messageOf(error) }))
    .finally(() => {
      isResumed = true;
    });
  return { resumed, isResumed: () => isResumed };
}

/** Drains the node after a long idle time. Returns a function that ends the watch. */
function watchIdle(afterMs: number | null, isIdle: () => boolean, drain: () => Promise<void>, log: Logger): () => void {
  if (afterMs === null) return () => undefined;
  const exit = (): void => {
    log.info("draining started", { reason: "the node was idle", idleMs: afterMs });
    void drain().catch(() => undefined);
  };
  return exitWhenIdle({ afterMs, isIdle, exit });
}

const tracerOf = ({ config, identity, log }: NodeSetup): Tracer => {
  const node = (): Attributes => ({
    "service.version": VERSION,
    "service.instance.id": identity.nodeId,
    "host.name": hostname(),
  });
  return openTracer(config.tracing, node, log);
};

/** Tasks that only upload count towards the maximum number of leases. */
function uploadSlots({ slots, workFolder }: NodeConfig): UploadSlots {
  const left = MAX_RUNNING - slots.inspect - slots.encode;
  return new UploadSlots(Math.max(0, Math.min(UPLOAD_SLOTS, left)), async () => {
    return (await freeBytes(workFolder)) >= UPLOAD_DISK_BYTES;
  });
}

/** Creates the dependencies that the tasks share. Removes the files of an earlier process; its spooled reports stay. */
async function nodeDeps(
  { config, log }: NodeSetup,
  { tools, capabilities, folders = new Map(), speech = null }: Machine,
  service: ServiceAccess,
): Promise<NodeDeps> {
  const { workFolder, allowPrivate, maxSourceBytes } = config;
  const tasks = join(workFolder, "tasks");
  const sourceFolder = join(workFolder, SOURCE_FOLDER);
  for (const folder of [sourceFolder, tasks]) await rm(folder, { recursive: true, force: true });
  const probes = new Limiter(PROBES);
  const sources = new SourceCache(sourceFolder);
  return {
    ...tools,
    capabilities,
    sources,
    withProbeSlot: (work) => probes.run(work),
    rangedSources: new RangedSources(sources),
    workFolder: tasks,
    fontsFolder: config.fontsFolder,
    speech,
    folders,
    storages: storageAgent(allowPrivate),
    allowPrivate,
    service,
    maxSourceBytes,
    log,
  };
}
