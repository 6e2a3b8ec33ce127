// The Worker's bindings and settings.

import * as z from "zod";
import { createLogger, type Logger } from "#shared/log.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import type { AccountObject } from "./account/account-object.ts";
import { type Peppers, parsePeppers } from "./db/peppers.ts";
import type { NodeHub } from "./dispatch/node-hub.ts";
import type { JobObject } from "./job/job-object.ts";
import { RETENTION_MS } from "./job/state/job-state.ts";
import { type ScratchSettings, ScratchVariables, scratchSettings } from "./storage/scratch/scratch-settings.ts";
import { parseSealingKeys, type SealingKeys } from "./storage/sealed-secret.ts";

export type Env = {
  DB: D1Database;
  JOB: DurableObjectNamespace<JobObject>;
  HUB: DurableObjectNamespace<NodeHub>;
  /** What an account has at its disposal: one object each. */
  ACCOUNT: DurableObjectNamespace<AccountObject>;
  /** Requests that one API key may make. */
  CLIENT_RATE: RateLimit;
  /** Unknown API keys and node tokens, and wrong admin tokens, that one network may send. */
  REFUSED_RATE: RateLimit;
  ADMIN_REFUSED_RATE: RateLimit;
  /** The bucket behind the service's own storage (`"service": "coconut"`); an operator may leave it out. */
  STORAGE?: R2Bucket;
  /** Secrets, set by the operator. */
  ADMIN_TOKEN: string;
  KEY_PEPPER: string;
  SEALING_KEYS: string;
  /** Variables of wrangler.toml. */
  ALLOW_PRIVATE: string;
  /** Scheme and host under which the world reaches this Worker; the request's own where it is not set. */
  PUBLIC_URL?: string;
  /** Days from a job's end for which its secrets, metadata and notifications are kept. */
  RETENTION_DAYS?: string;
  /** Jobs that have not ended which an account may have, unless its own limit says else. */
  MAX_UNFINISHED_JOBS?: string;
  /** Where Backblaze is asked for buckets; its own address unless set. */
  B2_API_URL?: string;
  /** Where notifications of type `sns` go in place of AWS: a server that speaks SNS. */
  SNS_ENDPOINT?: string;
} & ScratchVariables;

const DAY_MS = 24 * 60 * 60 * 1000;

const Settings = z.object({
  ADMIN_TOKEN: z
    .string()
    .trim()
    .min(32, "ADMIN_TOKEN must have at least 32 characters: openssl rand -base64 32 makes one"),
  KEY_PEPPER: z.string().transform(parsePeppers),
  SEALING_KEYS: z.string().transform(parseSealingKeys),
  ALLOW_PRIVATE: z.enum(["none", "loopback", "all"]).default("none"),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  // A day at the least: for so long an Idempotency-Key may name the job.
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .max(365)
    .default(RETENTION_MS / DAY_MS),
  MAX_UNFINISHED_JOBS: z.coerce.number().int().min(1).max(100_000).default(10_000),
  B2_API_URL: z.url({ protocol: /^https?$/ }).default("https://api.backblazeb2.com"),
  SNS_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  ...ScratchVariables.shape,
});

export type Settings = {
  adminToken: string;
  peppers: Peppers;
  sealingKeys: SealingKeys;
  allowPrivate: AllowPrivate;
  /** Without a slash at the end; null: as the request says. */
  publicUrl: string | null;
  retentionMs: number;
  maxUnfinishedJobs: number;
  b2ApiUrl: string;
  /** Null: AWS's own endpoints. */
  snsEndpoint: string | null;
  /** Null: films are encoded in one piece. */
  scratch: ScratchSettings | null;
};

/** The settings, parsed. Throws a sentence for the operator that names the one that is wrong. */
export function settingsOf(env: Env): Settings {
  const parsed = Settings.safeParse(env);
  if (!parsed.success) throw new Error(`The Worker's settings are not valid: ${z.prettifyError(parsed.error)}`);
  const { data } = parsed;
  return {
    adminToken: data.ADMIN_TOKEN,
    peppers: data.KEY_PEPPER,
    sealingKeys: data.SEALING_KEYS,
    allowPrivate: data.ALLOW_PRIVATE,
    publicUrl: data.PUBLIC_URL ?? null,
    retentionMs: data.RETENTION_DAYS * DAY_MS,
    maxUnfinishedJobs: data.MAX_UNFINISHED_JOBS,
    b2ApiUrl: data.B2_API_URL,
    snsEndpoint: data.SNS_ENDPOINT ?? null,
    scratch: scratchSettings(data),
  };
}

export const log: Logger = createLogger({ write: (line) => console.log(line), now: Date.now, level: "info" });

/** The hub that holds the sockets of a pool's nodes: `hub:<pool>:<shard>`, so that more can come without moving data. */
export const hubOf = (env: Env): DurableObjectStub<NodeHub> => env.HUB.getByName("hub:default:0");
export const accountOf = (env: Env, id: string): DurableObjectStub<AccountObject> =>
  env.ACCOUNT.getByName(`account:${id}`);
/**
 * A job's object as others reach it. What a claim answers is spelled out: the types of RPC take members that nobody knows,
 * such as those of ffprobe's answers, for what cannot be sent.
 */
export type JobStub = Pick<JobObject, "claim"> & DurableObjectStub<JobObject>;
export const jobOf = (env: Env, id: string): JobStub => env.JOB.getByName(id);
