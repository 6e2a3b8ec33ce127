// Requests of a lease to the control plane for signed uploads and scratch URLs, retried until it responds.
import { setTimeout as sleep } from "node:timers/promises";
import { type BackoffPolicy, backoffMs } from "#shared/backoff.ts";
import { AppError } from "#shared/errors.ts";
import type { LeaseId } from "#shared/ids.ts";
import type { Logger } from "#shared/log.ts";
import {
  ChunksAnswer,
  type ChunksRequest,
  ScratchAnswer,
  type ScratchRequest,
  type ScratchTrack,
} from "#shared/protocol/scratch.ts";
import { UploadsAnswer, type UploadsRequest } from "#shared/protocol/uploads.ts";
import type { StorageHold } from "../upload/retry-policy.ts";
import type { ControlPlane } from "./control-plane.ts";

/** The control plane's client for a lease. */
export type LeaseClient = {
  readonly controlPlane: ControlPlane;
  readonly lease: LeaseId;
  readonly token: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Keeps outputs while their storage is unreachable. */
  readonly hold?: StorageHold | undefined;
};

export type ScratchPut = ScratchRequest["puts"][number];

const RETRY = { firstMs: 250, maxMs: 10_000 };
/** HTTP 500 responses in about a minute. After these the lease gives its slot to other work. */
const MAX_INTERNAL_ERRORS = 10;
/** Names in a request (the maximum of ScratchRequest). */
const BATCH = 200;

/** About five minutes. */
const STORAGE_RETRIES = 24;
const STORAGE_RETRY = { firstMs: 500, maxMs: 30_000 };

/**
 * Requests signed uploads, and retries while the client's storage is unreachable: for an hour with `hold`. Throws
 * AppError `lease_superseded`, `node_failed` or `cancelled`.
 */
export async function requestUploads(
  client: LeaseClient,
  files: UploadsRequest["files"],
  backoff: BackoffPolicy = STORAGE_RETRY,
): Promise<UploadsAnswer> {
  const { token, signal, log, hold } = client;
  for (let attempt = 1; ; attempt++) {
    const answer = UploadsAnswer.parse(await post(client, "uploads", { token, files } satisfies UploadsRequest));
    const isPassing = "failure" in answer && answer.failure.code === "storage_unreachable";
    if (!isPassing || (attempt > STORAGE_RETRIES && !hold?.mayWait())) {
      log.debug("uploads signed", { files: files.length, attempt, failure: failureCode(answer) });
      return answer;
    }
    await sleep(backoffMs(attempt, backoff, Math.random), undefined, { signal });
  }
}

/**
 * Requests URLs for any number of scratch objects. The first failure is the answer for all of them. Throws AppError
 * `lease_superseded`, `node_failed` or `cancelled`.
 */
export async function requestScratch(
  client: LeaseClient,
  puts: readonly ScratchPut[],
  gets: readonly string[],
): Promise<ScratchAnswer> {
  const { token, log } = client;
  const signed: Extract<ScratchAnswer, { puts: unknown }> = { puts: [], gets: [] };
  for (let start = 0; start < Math.max(puts.length, gets.length); start += BATCH) {
    const body: ScratchRequest = {
      token,
      puts: puts.slice(start, start + BATCH),
      gets: gets.slice(start, start + BATCH),
    };
    const answer = ScratchAnswer.parse(await post(client, "scratch", body));
    if ("failure" in answer) return answer;
    if (answer.puts.length !== body.puts.length || answer.gets.length !== body.gets.length) {
      throw new AppError("node_failed", "The control plane signed another number of scratch objects than requested");
    }
    signed.puts.push(...answer.puts);
    signed.gets.push(...answer.gets);
  }
  log.debug("scratch objects signed", { puts: puts.length, gets: gets.length });
  return signed;
}

/**
 * Requests the tracks of the finished chunks from number `from` on, up to the first unfinished chunk. Throws AppError
 * `lease_superseded`, `node_failed` or `cancelled`.
 */
export async function requestChunks(client: LeaseClient, from: number): Promise<ScratchTrack[][]> {
  const { token } = client;
  return ChunksAnswer.parse(await post(client, "chunks", { token, from } satisfies ChunksRequest)).chunks;
}

const failureCode = (answer: UploadsAnswer): string | null => ("failure" in answer ? answer.failure.code : null);

async function post(
  { controlPlane, lease, signal }: LeaseClient,
  verb: "uploads" | "scratch" | "chunks",
  body: UploadsRequest | ScratchRequest | ChunksRequest,
): Promise<unknown> {
  let internalErrors = 0;
  for (let attempt = 1; ; attempt++) {
    const response = await controlPlane.post(lease, verb, body, signal);
    if (response.kind === "accepted") return response.body;
    if (response.kind === "superseded") throw new AppError("lease_superseded", "The job no longer needs this work");
    if (response.kind === "rejected") {
      throw new AppError("node_failed", `The control plane rejected the request for uploads: ${response.message}`);
    }
    if (response.kind === "internal-error" && ++internalErrors === MAX_INTERNAL_ERRORS) {
      throw new AppError("node_failed", "The control plane failed to sign uploads; see its log for internal errors");
    }
    await sleep(backoffMs(attempt, RETRY, Math.random), undefined, { signal });
  }
}
