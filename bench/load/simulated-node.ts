// A node without ffmpeg: a real WebSocket and real reports, but tasks take no time.

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "#shared/backoff.ts";
import type { LeaseId } from "#shared/ids.ts";
import { createLogger } from "#shared/log.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import { type Assignment, type SlotCounts, slotClassOf, type TaskOf } from "#shared/protocol/tasks.ts";
import { controlPlaneAt, type PostResult } from "../../encoder-node/link/control-plane.ts";
import { NodeLink } from "../../encoder-node/link/node-link.ts";
import { requestUploads } from "../../encoder-node/link/upload-requests.ts";
import { createSlots } from "../../encoder-node/workspace/slots.ts";
import { probeOf } from "../../test/simulation/work.ts";
import type { Observations } from "./observations.ts";

export type NodeOptions = {
  readonly nodeId: string;
  /** The control plane's URL without `/v2`. */
  readonly url: string;
  readonly token: string;
  readonly slots: SlotCounts;
  /** True if outputs are stored; false if they are only requested and reported. */
  readonly stores: boolean;
};

export interface SimulatedNode {
  close(): void;
}

const CAPABILITIES: Capabilities = {
  ffmpegVersion: "7.0",
  cpus: 8,
  hardware: null,
  encoders: [...ALL_SOFTWARE.encoders],
  filters: [...ALL_SOFTWARE.filters],
  muxers: [...ALL_SOFTWARE.muxers],
};

/** The content of every output. */
const CONTENT = "simulated";

const PROBE = probeOf(10);

/** A task lasts until its report is accepted. Its lease must not expire before. */
const HEARTBEAT_MS = 5000;
const REPORT_RETRY = { firstMs: 250, maxMs: 5000 };

const log = createLogger({ write: (line) => console.error(line), now: Date.now, level: "error" });

/** Connects, and finishes each task at once until it is closed. */
export function startSimulatedNode(
  { nodeId, url, token, slots: capacity, stores }: NodeOptions,
  observations: Observations,
): SimulatedNode {
  const controlPlane = controlPlaneAt(url, token);
  const slots = createSlots(capacity);
  const running = new Map<LeaseId, Assignment>();
  const session = randomBytes(14).toString("hex");
  const closed = new AbortController();

  async function work(assignment: Assignment): Promise<void> {
    const { lease, task } = assignment;
    const result = task.kind === "encode" ? await encode(assignment, task) : INSPECTED;
    observations.reporting(lease);
    observations.reported(lease, await report(assignment, result));
  }

  async function encode({ lease, token: proof }: Assignment, { outputs }: TaskOf<"encode">): Promise<TaskResult> {
    const upload = { output: 0, file: 1, sizeBytes: CONTENT.length };
    const answer = await requestUploads({ controlPlane, lease, token: proof, signal: closed.signal, log }, [
      ...outputs.map((_, output) => ({ ...upload, output })),
    ]);
    if ("failure" in answer) throw new Error(answer.failure.message);
    const files = await Promise.all(
      answer.uploads.map(async ({ output, file, parts }) => {
        const etags = await Promise.all(parts.map((part) => (stores ? put(part) : '"none"')));
        return { output, file, sizeBytes: CONTENT.length, etags };
      }),
    );
    const all = files.map((file) => ({ status: "made" as const, output: file.output, files: [file], probe: PROBE }));
    return { kind: "encode", outputs: all };
  }

  /** Repeats the report until the control plane has accepted or rejected it. */
  async function report({ lease, token: proof }: Assignment, result: TaskResult): Promise<PostResult> {
    for (let attempt = 1; ; attempt++) {
      const answer = await controlPlane.post(lease, "complete", { token: proof, result }, closed.signal);
      if (answer.kind !== "unreachable" && answer.kind !== "internal-error") return answer;
      observations.retries += 1;
      await sleep(backoffMs(attempt, REPORT_RETRY, Math.random));
    }
  }

  function assign(assignment: Assignment): void {
    const { lease, task } = assignment;
    const slotClass = slotClassOf(task);
    observations.assigned(nodeId, assignment, slots.free()[slotClass]);
    if (running.has(lease)) return;
    slots.take(slotClass);
    running.set(lease, assignment);
    void work(assignment)
      .catch((error: unknown) => {
        if (!closed.signal.aborted) observations.violations.push(`${lease} on ${nodeId}: ${error}`);
      })
      .finally(() => {
        running.delete(lease);
        slots.give(slotClass);
        link.send({ type: "slots", offered: { inspect: 0, encode: 0, [slotClass]: 1 }, released: [lease] });
      });
  }

  const link = new NodeLink(
    { url, token, log },
    {
      hello: () => ({
        nodeId,
        session,
        capabilities: CAPABILITIES,
        slots: slots.free(),
        running: [...running.values()].map(({ lease, token: proof, slotClass }) => ({
          lease,
          token: proof,
          slotClass,
        })),
      }),
      assign,
      cancel: (lease) => observations.cancelled(lease),
      look: (lease) => link.send({ type: "running", lease, commands: [] }),
      drain: () => undefined,
      nameInUse: () => undefined,
      pace: () => undefined,
      welcome: () => observations.connected(nodeId),
    },
  );
  const heartbeat = setInterval(() => {
    const items = [...running.values()].map(({ lease, token: proof }) => ({ lease, token: proof, ...HALF_WAY }));
    if (items.length > 0) link.send({ type: "progress", items });
  }, HEARTBEAT_MS);

  return {
    close(): void {
      closed.abort();
      clearInterval(heartbeat);
      link.close();
    },
  };
}

const HALF_WAY = { stage: "transferring", fraction: 0.5 } as const;

const INSPECTED: TaskResult = { kind: "inspect", probe: PROBE };

async function put({ url, headers }: { url: string; headers: Record<string, string> }): Promise<string> {
  const response = await fetch(url, { method: "PUT", headers, body: CONTENT });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The storage responded with ${response.status}`);
  return response.headers.get("etag") ?? "";
}
