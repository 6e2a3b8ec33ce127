// Nodes at the other end of real sockets, and jobs that wait for them, for tests of the hub.
import { reset } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, beforeEach, vi } from "vitest";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import { type HubFrame, PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import type { SlotCounts } from "#shared/protocol/tasks.ts";
import { applyMigrations } from "../db/migrate.ts";
import { jobOf } from "../rpc/job.ts";
import type { JobSpec } from "../rpc/job-spec.ts";
import { bearer, newNodeToken, newSpec } from "./jobs.ts";

let token: string;
const open: WebSocket[] = [];

/** Gives every test of a file a new database and a node token, and removes sockets and objects after it. */
export function useNodes(): void {
  beforeEach(async () => {
    await applyMigrations(env.DB);
    token = await newNodeToken();
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.close();
    await reset();
  });
}

/** A node's side of the socket. */
export type TestNode = {
  readonly socket: WebSocket;
  /** Received frames that no test has read yet. */
  readonly frames: HubFrame[];
  /** The code of the close frame. */
  readonly closed: Promise<number>;
  /** The reason of the close frame. */
  readonly reason: Promise<string>;
  /** Waits for the first frame of a type. */
  next<Type extends HubFrame["type"]>(type: Type): Promise<Extract<HubFrame, { type: Type }>>;
  /** Sends a frame, or any text. */
  say(frame: unknown): void;
};

const FRAME_LIMIT_MS = 30_000;

/** Opens a socket with a token (by default the file's own token) and further headers. */
export async function connect(withToken = token, more: Readonly<Record<string, string>> = {}): Promise<TestNode> {
  const headers = { ...bearer(withToken), ...more, upgrade: "websocket" };
  const response = await exports.default.fetch(new Request("https://copra.test/v2/nodes/connect", { headers }));
  const socket = response.webSocket;
  if (!socket) throw new Error(`No socket: ${response.status}`);
  const frames: HubFrame[] = [];
  const ended = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
  const [closed, reason] = [ended.then((event) => event.code), ended.then((event) => event.reason)];
  socket.addEventListener("message", ({ data }) => {
    if (String(data).startsWith("{")) frames.push(JSON.parse(String(data)));
  });
  socket.accept();
  open.push(socket);
  const next = <Type extends HubFrame["type"]>(type: Type) =>
    vi.waitFor(
      () => {
        const index = frames.findIndex((frame) => frame.type === type);
        if (index < 0) throw new Error(`No ${type} among ${JSON.stringify(frames)}`);
        return frames.splice(index, 1)[0] as Extract<HubFrame, { type: Type }>;
      },
      { timeout: FRAME_LIMIT_MS },
    );
  const say = (frame: unknown): void => socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  return { socket, frames, closed, reason, next, say };
}

export const hello = (nodeId: string, slots: SlotCounts, session = `s-${nodeId}`, running: object[] = []) => ({
  type: "hello",
  protocol: PROTOCOL_VERSION,
  nodeId,
  session,
  capabilities: { ffmpegVersion: "7.0", cpus: 2, ...ALL_SOFTWARE },
  slots,
  running: running.map((lease) => ({ slotClass: "encode", ...lease })),
});

/** A node that has sent hello and received welcome. */
export async function joined(
  nodeId: string,
  slots: SlotCounts,
  session?: string,
  running?: object[],
): Promise<TestNode> {
  const node = await connect();
  node.say(hello(nodeId, slots, session, running));
  await node.next("welcome");
  return node;
}

/** A job whose first task waits for a node. */
export async function newJob(changes: Partial<JobSpec> = {}): Promise<JobSpec> {
  const spec = { ...(await newSpec()), ...changes };
  await jobOf(env, spec.id).create(spec);
  return spec;
}

/** Waits, so that a test can check that something did not happen. */
export const settle = () => new Promise((resolve) => setTimeout(resolve, 100));
