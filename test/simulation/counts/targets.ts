// The two control planes for the same plan: the real control plane in workerd, and the simulated platform.
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { PING, PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { storageOf } from "../../../local/demo/demo-job.ts";
import { serveLoopback } from "../../../local/demo/loopback-server.ts";
import { readBody } from "../../../local/demo/webhook-inbox.ts";
import { startStack } from "../../../local/stack/stack.ts";
import type { NodeHandlers, NodeHost, NodeSocket } from "../platform/node-host.ts";
import { ADMIN_TOKEN, Service } from "../service.ts";
import type { Counts, Target } from "./run-plan.ts";

/** Same as in encoder-node/link/node-link.ts. */
const PING_EVERY_MS = 15_000;
const RETRY_MS = 500;

type Run = (target: Target) => Promise<Counts>;
type Receive = Parameters<Target["onWebhook"]>[0];

/** Runs on the local system with workerd, with `home` as its folder. */
export async function onWorkerd(home: string, run: Run): Promise<Counts> {
  const stack = await startStack({ home, port: 0, s3Port: 0, nodes: 0 }, { notify: () => {} });
  let receive: Receive = () => undefined;
  const inbox = await serveLoopback((request, response) => {
    readBody(request).then(
      (body) => {
        receive({ id: String(request.headers["webhook-id"]), body: body.toString() });
        response.end("{}");
      },
      () => response.destroy(),
    );
  });
  const { api, adminToken } = stack.describe();
  const host = realHost(api.replace(/\/v2$/, ""));
  const admin = async (path: string, name: string): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
    return untilAccepted(host, `/v2/admin/${path}`, { method: "POST", headers, body: JSON.stringify({ name }) });
  };
  try {
    return await run({
      host,
      adminToken,
      newAccount: async (name) => String((await admin("accounts", name)).api_key),
      newToken: async (name) => String((await admin("node-tokens", name)).node_token),
      submit: async (apiKey, source, outputs, idempotencyKey) => {
        const headers = {
          authorization: `Basic ${btoa(`${apiKey}:`)}`,
          "content-type": "application/json",
          "idempotency-key": idempotencyKey,
        };
        const job = {
          input: { url: `${inbox.origin}/${source}` },
          storage: storageOf(stack.describe()),
          outputs,
          notification: { type: "http", url: inbox.origin },
        };
        return String(
          (await untilAccepted(host, "/v2/jobs", { method: "POST", headers, body: JSON.stringify(job) })).id,
        );
      },
      onWebhook: (to) => {
        receive = to;
      },
    });
  } finally {
    await stack.stop(0);
    await inbox.close();
  }
}

/** Repeats a request while the service is not available. */
async function untilAccepted(host: NodeHost, path: string, init: RequestInit): Promise<Record<string, unknown>> {
  for (;;) {
    const response = await host.request(path, init).catch(() => null);
    const answer = response && ((await response.json()) as Record<string, unknown>);
    if (response?.ok && answer) return answer;
    const isTemporary = !response || response.status === 429 || response.status >= 500;
    if (!isTemporary) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    await sleep(RETRY_MS);
  }
}

function realHost(origin: string): NodeHost {
  return {
    time: {
      get now() {
        return Date.now();
      },
      sleep: (delayMs) => sleep(delayMs),
      after: (delayMs, work) => setTimeout(work, delayMs).unref(),
    },
    random: Math.random,
    protocol: PROTOCOL_VERSION,
    request: (path, init) => fetch(origin + path, init),
    connect: (headers) => openSocket(`${origin.replace(/^http/, "ws")}/v2/nodes/connect`, headers),
  };
}

async function openSocket(url: string, headers: Record<string, string>): Promise<NodeSocket | null> {
  const socket = new WebSocket(url, { headers });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.on("open", () => resolve(true));
    socket.on("error", () => resolve(false));
  });
  if (!isOpen) return null;
  const ping = setInterval(() => socket.send(PING), PING_EVERY_MS);
  let handlers: NodeHandlers | null = null;
  socket.on("message", (data) => handlers?.message(String(data)));
  socket.on("close", (code, reason) => {
    clearInterval(ping);
    handlers?.close(code, String(reason));
  });
  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    listen: (added) => {
      handlers = added;
    },
    send: (data) => socket.send(data),
    close: () => socket.close(),
    fallSilent: () => {
      handlers = null;
      socket.pause();
      clearInterval(ping);
    },
  };
}

/** Runs on the simulated platform, which permanently replaces the clock and the network of this process. */
export async function onSimulation(root: string, seed: number, run: Run): Promise<Counts> {
  const service = new Service({ root, seed, isExact: false });
  await service.start();
  const { platform } = service;
  return service.until(
    run({
      host: platform,
      adminToken: ADMIN_TOKEN,
      newAccount: (name) => service.newAccount(name),
      newToken: (name) => service.newToken(name),
      submit: (apiKey, source, outputs, idempotencyKey) =>
        service.submit(apiKey, { input: { url: `https://media.example.com/${source}` }, outputs }, idempotencyKey),
      onWebhook: (receive) => {
        platform.internet.receive = (webhook) => {
          receive(webhook);
          return true;
        };
      },
    }),
  );
}
