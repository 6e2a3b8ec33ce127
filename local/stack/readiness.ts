// Whether the parts of the local system answer.
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Child } from "./child.ts";

const Health = z.object({ status: z.string(), nodes: z.int() });

const CHECK_MS = 100;
const ANSWER_LIMIT_MS = 2000;

/** How many nodes the control plane says are connected; null when it does not answer, or is not well. */
export async function connectedNodes(api: string): Promise<number | null> {
  const answer = await get(`${api}/health`);
  const health = answer?.ok ? Health.safeParse(await answer.json().catch(() => null)) : null;
  return health?.success && health.data.status === "ok" ? health.data.nodes : null;
}

export async function s3Answers(endpoint: string): Promise<boolean> {
  const answer = await get(`${endpoint}/`);
  await answer?.body?.cancel();
  return answer !== null;
}

const get = (url: string): Promise<Response | null> =>
  fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) }).catch(() => null);

export type WaitLimits = { readonly limitMs: number; readonly signal: AbortSignal | undefined };

/** Waits until `check` holds. Throws words for people when it takes too long or one of the children ends. */
export async function waitUntil(
  what: string,
  check: () => Promise<boolean>,
  children: readonly Child[],
  { limitMs, signal }: WaitLimits,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  const broken = Promise.race(children.map((child) => child.broken));
  for (;;) {
    signal?.throwIfAborted();
    if (await check()) return;
    const words = await Promise.race([broken, sleep(CHECK_MS)]);
    if (words !== undefined) throw new Error(words);
    if (Date.now() > deadline) throw new Error(`${what} after ${limitMs / 1000} s. ${logsOf(children)}`);
  }
}

const logsOf = (children: readonly Child[]): string =>
  `See ${children.map(({ plan }) => plan.logFile).join(", ")} for the reason.`;
