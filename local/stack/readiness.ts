// Checks that the processes of the local system respond.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Child } from "../processes/child.ts";

const Health = z.object({ status: z.string(), nodes: z.int() });

const CHECK_MS = 100;
const RESPONSE_TIMEOUT_MS = 2000;

/** The number of nodes that are connected to the control plane; null if it does not respond or is not healthy. */
export async function connectedNodes(api: string): Promise<number | null> {
  const response = await get(`${api}/health`);
  const health = response?.ok ? Health.safeParse(await response.json().catch(() => null)) : null;
  return health?.success && health.data.status === "ok" ? health.data.nodes : null;
}

export async function s3Responds(endpoint: string): Promise<boolean> {
  const response = await get(`${endpoint}/`);
  await response?.body?.cancel();
  return response !== null;
}

const get = (url: string): Promise<Response | null> =>
  fetch(url, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) }).catch(() => null);

export type WaitOptions = {
  /** A sentence for people if the wait takes too long, without its end: "The S3 server does not respond". */
  readonly failure: string;
  readonly children: readonly Child[];
  readonly limitMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Waits until `check` holds. Throws a message for people if this takes too long or if a child exits. */
export async function waitUntil(check: () => Promise<boolean>, options: WaitOptions): Promise<void> {
  const { failure, children, limitMs, signal } = options;
  const deadline = Date.now() + limitMs;
  const exited = Promise.race(children.map((child) => child.exitedEarly));
  for (;;) {
    signal?.throwIfAborted();
    if (await check()) return;
    const message = await Promise.race([exited, sleep(CHECK_MS)]);
    if (message !== undefined) throw new Error(message);
    if (Date.now() > deadline) throw new Error(`${failure} after ${limitMs / 1000} s. ${logsOf(children)}`);
  }
}

function logsOf(children: readonly Child[]): string {
  const files = children.flatMap(({ plan }) => plan.logFile ?? []);
  return files.length === 0 ? "The log states the reason." : `See ${files.join(", ")} for the reason.`;
}
