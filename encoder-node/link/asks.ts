// What the work on a lease asks of the control plane, until it answers: signed requests for storages.
import { setTimeout as sleep } from "node:timers/promises";
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import { ScratchAnswer, type ScratchRequest, UploadsAnswer, type UploadsRequest } from "#shared/protocol/protocol.ts";
import type { ControlPlane } from "./control-plane.ts";

/** One grant's line to the control plane. */
export type Line = {
  readonly controlPlane: ControlPlane;
  readonly lease: LeaseId;
  readonly token: string;
  readonly signal: AbortSignal;
};

export type ScratchPut = ScratchRequest["puts"][number];

const ASK_RETRY = { firstMs: 250, maxMs: 10_000 };
/** Answers that the control plane is broken, over a minute or so, after which a slot is worth more than hope. */
const MAX_BROKEN_ANSWERS = 10;
/** Names in one request (ScratchRequest allows no more). */
const BATCH = 200;

/** A storage that takes no upload now may do so soon: some five minutes cost less than encoding again. */
const STORAGE_RETRIES = 24;
const STORAGE_RETRY = { firstMs: 500, maxMs: 30_000 };

/** Asks again while the storage cannot be reached, within limits. Throws AppError(lease_superseded | node_failed | cancelled). */
export async function askUploads(
  line: Line,
  files: UploadsRequest["files"],
  backoff: BackoffPolicy = STORAGE_RETRY,
): Promise<UploadsAnswer> {
  const { token, signal } = line;
  for (let failures = 1; ; failures++) {
    const answer = UploadsAnswer.parse(await ask(line, "uploads", { token, files } satisfies UploadsRequest));
    const isPassing = "failure" in answer && answer.failure.code === "storage_unreachable";
    if (!isPassing || failures > STORAGE_RETRIES) return answer;
    await sleep(backoffMs(failures, backoff, Math.random), undefined, { signal });
  }
}

/** Any number of names; the first failure is the answer to all. Throws AppError(lease_superseded | node_failed | cancelled). */
export async function askScratch(
  line: Line,
  puts: readonly ScratchPut[],
  gets: readonly string[],
): Promise<ScratchAnswer> {
  const { token } = line;
  const signed: Extract<ScratchAnswer, { puts: unknown }> = { puts: [], gets: [] };
  for (let start = 0; start < Math.max(puts.length, gets.length); start += BATCH) {
    const [some, others] = [puts.slice(start, start + BATCH), gets.slice(start, start + BATCH)];
    const body: ScratchRequest = { token, puts: some, gets: others };
    const answer = ScratchAnswer.parse(await ask(line, "scratch", body));
    if ("failure" in answer) return answer;
    if (answer.puts.length !== some.length || answer.gets.length !== others.length) {
      throw new AppError("node_failed", "The control plane signed other requests than it was asked for");
    }
    signed.puts.push(...answer.puts);
    signed.gets.push(...answer.gets);
  }
  return signed;
}

async function ask(
  { controlPlane, lease, signal }: Line,
  verb: "uploads" | "scratch",
  body: UploadsRequest | ScratchRequest,
): Promise<unknown> {
  let broken = 0;
  for (let attempt = 1; ; attempt++) {
    const answer = await controlPlane.post(lease, verb, body, signal);
    if (answer.kind === "taken") return answer.body;
    if (answer.kind === "superseded") throw new AppError("lease_superseded", "The job no longer wants this work");
    if (answer.kind === "refused")
      throw new AppError("node_failed", `The control plane refused to sign uploads: ${answer.message}`);
    if (answer.kind === "broken" && ++broken === MAX_BROKEN_ANSWERS)
      throw new AppError("node_failed", "The control plane could not sign uploads: it had a problem of its own");
    await sleep(backoffMs(attempt, ASK_RETRY, Math.random), undefined, { signal });
  }
}
