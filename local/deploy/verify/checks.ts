// Checks of a deployed service that depend on Cloudflare's edge. The emulated edge passes them, too.
import WebSocket from "ws";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import { type NodeFrameOf, PING, PONG, PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { NODE_USER_AGENT } from "#shared/version.ts";
import { Copra, JobFailed } from "../../../client/index.ts";
import { edgeBlock } from "../../../encoder-node/link/control-plane.ts";

export type Target = {
  readonly url: string;
  readonly key: string;
  readonly nodeToken: string | undefined;
  /** The time for which the event stream and the socket of a node stay open, in ms. */
  readonly holdMs: number;
  /** The origin of a server with an expired certificate. */
  readonly expired: string;
  /** The account and token for Cloudflare's analytics. */
  readonly account: { readonly id: string; readonly token: string } | undefined;
};
type Check = {
  readonly name: string;
  readonly expected: string;
  /** Matches a correct result. */
  readonly pattern: RegExp;
  /** A result that starts with NEEDS names an input that the check lacks. */
  readonly run: () => Promise<string>;
};
export type Row = { readonly name: string; readonly expected: string; readonly seen: string; readonly mark: string };

const NEEDS = "needs ";
const JOB_LIMIT_MS = 60_000;
const [PAGES, UPLOAD_BYTES] = [100, 65_536];
/** A name that never exists (RFC 2606). */
const NO_HOST = "https://copra-verify.invalid";
const PUBLIC_ADDRESS = "https://1.1.1.1";

/** Runs all checks. The two checks that hold a connection run at the same time. Never rejects. */
export async function verify(target: Target): Promise<Row[]> {
  const copra = new Copra({ url: target.url, key: target.key });
  const startedAt = new Date();
  const rows: Row[] = [];
  for (const check of edgeChecks(copra, target)) rows.push(await rowOf(check));
  rows.push(...(await Promise.all(heldConnections(copra, target).map(rowOf))));
  const run = (): Promise<string> => activeTime(target, startedAt);
  const expected = "near 0 GB-s: objects hibernate";
  return [...rows, await rowOf({ name: "objects", expected, pattern: /^asleep/, run })];
}

async function rowOf({ name, expected, pattern, run }: Check): Promise<Row> {
  const seen = await run().catch(messageOf);
  return { name, expected, seen, mark: pattern.test(seen) ? "ok" : seen.startsWith(NEEDS) ? "skipped" : "failed" };
}

function edgeChecks(copra: Copra, { url, expired }: Target): Check[] {
  const storage = (name: string, endpoint: string, expected: string): Check => {
    return {
      name: `storage, ${name}`,
      expected,
      pattern: new RegExp(expected),
      run: () => storageError(copra, endpoint),
    };
  };
  const size = `HTTP 200, ${UPLOAD_BYTES} bytes`;
  return [
    { name: "ready", expected: "ready", pattern: /^ready$/, run: async () => (await copra.ready()).status },
    storage("unknown host", NO_HOST, "does not exist in DNS"),
    storage("IP address", PUBLIC_ADDRESS, "an IP address"),
    storage("expired certificate", expired, "has no valid certificate"),
    { name: "HEAD of an mp4", expected: size, pattern: new RegExp(`^${size}$`), run: () => sizeOfUpload(copra) },
    { name: "docs", expected: `${PAGES} × 200, no 1102`, pattern: /^\d+ × 200$/, run: () => readPages(`${url}/docs`) },
  ];
}

function heldConnections(copra: Copra, target: Target): Check[] {
  const time = `open for ${target.holdMs / 1000} s`;
  const [events, node] = [`${time}, 0 reconnects`, `welcome, ${time}`];
  const follow = async (): Promise<string> => `${time}, ${await countReconnects(copra, target.holdMs)} reconnects`;
  return [
    { name: "events", expected: events, pattern: / 0 reconnects$/, run: follow },
    { name: "node", expected: node, pattern: /^welcome/, run: () => connectNode(target, node) },
  ];
}

/** The error of a job with a storage at `endpoint`, or of its request. The job requires a label that no node has. */
async function storageError(copra: Copra, endpoint: string): Promise<string> {
  const credentials = { access_key_id: "copra", secret_access_key: "copra-verify" };
  // The bucket is in the path, so that the host stays the host of `endpoint`.
  const bucket = { bucket: "copra-verify", region: "us-east-1", force_path_style: true };
  let id: string | undefined;
  try {
    const job = await copra.jobs.create({
      input: { url: `${NO_HOST}/a.mp4` },
      storage: { service: "s3other", endpoint, ...bucket, credentials },
      outputs: { mp4: { path: "/copra-verify.mp4" } },
      notification: { type: "http", url: NO_HOST },
      settings: { require: ["copra-verify"] },
    });
    id = job.id;
    await copra.jobs.wait(id, { signal: AbortSignal.timeout(JOB_LIMIT_MS) });
    return "the job completed";
  } catch (error) {
    if (error instanceof JobFailed) return error.job.outputs[0]?.error ?? error.message;
    if (id === undefined) return messageOf(error);
    await copra.jobs.cancel(id).catch(() => null);
    return `the storage was accepted: ${messageOf(error)}`;
  }
}

/** Uploads a file and returns its size. The service removes the upload after a day. */
async function sizeOfUpload(copra: Copra): Promise<string> {
  const { id } = await copra.uploads.send(new Blob([new Uint8Array(UPLOAD_BYTES)]), { name: "copra-verify.mp4" });
  const response = await fetch((await copra.uploads.get(id)).url ?? "", { method: "HEAD" });
  return `HTTP ${response.status}, ${response.headers.get("content-length") ?? "unknown"} bytes`;
}

async function readPages(url: string): Promise<string> {
  const counts = new Map<string, number>();
  for (let sent = 0; sent < PAGES; sent++) {
    const response = await fetch(url);
    const [code] = /error code: \d+/.exec(await response.text()) ?? [];
    const result = code === undefined ? String(response.status) : `${response.status} (${code})`;
    counts.set(result, (counts.get(result) ?? 0) + 1);
  }
  return [...counts].map(([result, count]) => `${count} × ${result}`).join(", ");
}

/** Follows the events of the account, and counts reconnects. */
async function countReconnects(copra: Copra, holdMs: number): Promise<number> {
  let reconnects = 0;
  const signal = AbortSignal.timeout(holdMs);
  try {
    for await (const _ of copra.events({ signal, onReconnect: () => reconnects++ }));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return reconnects;
}

/** Connects as a node without slots, which gets no work. Returns `result` if the socket stays open. */
async function connectNode({ url, nodeToken, holdMs }: Target, result: string): Promise<string> {
  if (nodeToken === undefined) return `${NEEDS}COPRA_NODE_TOKEN`;
  const startedAt = Date.now();
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/v2/nodes/connect`, {
    headers: { authorization: `Bearer ${nodeToken}`, "user-agent": NODE_USER_AGENT },
  });
  const capabilities = { ffmpegVersion: "7.0", encoders: [], filters: [], muxers: [], hardware: null, cpus: 1 };
  const hello: NodeFrameOf<"hello"> = {
    type: "hello",
    protocol: PROTOCOL_VERSION,
    nodeId: "copra-verify",
    session: "copra-verify",
    capabilities,
    slots: { inspect: 0, encode: 0 },
    running: [],
  };
  socket.on("open", () => socket.send(JSON.stringify(hello)));
  const seen = new Promise<string>((resolve) => {
    socket.on("message", (data) => {
      if (String(data) === PONG) resolve(result);
      if (String(data).includes('"welcome"')) setTimeout(() => socket.send(PING), holdMs);
    });
    socket.on("close", (code) => resolve(`closed after ${Math.round((Date.now() - startedAt) / 1000)} s (${code})`));
    socket.on("error", (error) => resolve(error.message));
    socket.on("unexpected-response", (_, { statusCode: status = 0, headers }) => {
      const head = { status, server: headers.server, contentType: headers["content-type"] };
      resolve(edgeBlock(head) ?? `HTTP ${status}`);
    });
  });
  return await seen.finally(() => socket.terminate());
}

const Objects = z.array(z.object({ sum: z.object({ duration: z.number() }) }));
const Accounts = z.array(z.object({ objects: Objects }));
const Analytics = z.object({ data: z.object({ viewer: z.object({ accounts: Accounts }) }) });

/** The billed time of all objects of the account since the start. Cloudflare reports it some minutes late. */
async function activeTime({ account }: Target, from: Date): Promise<string> {
  if (!account) return `${NEEDS}CLOUDFLARE_ACCOUNT_ID, and CLOUDFLARE_API_TOKEN with Account Analytics: Read`;
  const query = `query($id: string!, $from: Time!, $to: Time!) { viewer { accounts(filter: { accountTag: $id }) {
    objects: durableObjectsPeriodicGroups(limit: 10000, filter: { datetime_geq: $from, datetime_leq: $to }) {
      sum { duration } } } } }`;
  const to = new Date();
  const response = await fetch("https://api.cloudflare.com/client/v4/graphql", {
    method: "POST",
    headers: { authorization: `Bearer ${account.token}`, "content-type": "application/json" },
    body: JSON.stringify({ query, variables: { id: account.id, from, to } }),
  });
  const { accounts } = Analytics.parse(await response.json()).data.viewer;
  const used = accounts.flatMap(({ objects }) => objects).reduce((total, { sum }) => total + sum.duration, 0);
  const seconds = (to.getTime() - from.getTime()) / 1000;
  // An object that never hibernates uses 0.128 GB-s a second.
  return `${used < 10 + seconds * 0.0128 ? "asleep" : "awake"}: ${used.toFixed(1)} GB-s in ${Math.round(seconds)} s`;
}
