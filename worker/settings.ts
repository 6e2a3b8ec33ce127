// The Worker's settings, parsed from its variables and secrets.
import * as z from "zod";
import { FolderName } from "#shared/job/folder-url.ts";
import { type AllowPrivate, byName, withOrigins } from "#shared/network/address-policy.ts";
import type { AccessKeys, S3Bucket } from "#shared/request/storage/storage-spec.ts";
import { masterKeysOf } from "./crypto/master-secret.ts";
import { parseSealingKeys, type SealingKeys } from "./crypto/sealed-secret.ts";
import { rememberedBy } from "./remembered-by.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Retention of a job's secrets, metadata and notifications after its end, unless RETENTION_DAYS is set. */
export const RETENTION_MS = 7 * DAY_MS;

export const LogLevelSetting = z.enum(["debug", "info", "warn", "error"]).default("info");

const HttpUrl = z.url({ protocol: /^https?$/ });
const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, "");
const Origin = HttpUrl.transform((url) => new URL(url).origin);
const Text = z.string().trim().min(1).optional();
/** Empty counts as unset: Cloudflare's deploy form sends empty strings. */
const Key = z.string().trim().optional();

/** The scratch bucket needs all of these; with none of them the service has no scratch bucket. */
const SCRATCH_NEEDS = [
  "SCRATCH_ENDPOINT",
  "SCRATCH_REGION",
  "SCRATCH_BUCKET",
  "SCRATCH_ACCESS_KEY_ID",
  "SCRATCH_SECRET_ACCESS_KEY",
] as const;

const Variables = z.object({
  ADMIN_TOKEN: z
    .string()
    .trim()
    .min(32, "ADMIN_TOKEN must have at least 32 characters; create it with: openssl rand -base64 32"),
  /** Only reads the state of the fleet. If it is not set, only the admin token reads it. */
  METRICS_TOKEN: z
    .string()
    .trim()
    .min(32, "METRICS_TOKEN must have at least 32 characters; create it with: openssl rand -base64 32")
    .optional(),
  /** The service derives the keys from it that seal clients' secrets. */
  MASTER_SECRET: Key,
  /** Sealing keys that are not derived from MASTER_SECRET, or that are older than it. */
  SEALING_KEYS: Key,
  ALLOW_PRIVATE: z.enum(["none", "loopback", "all"]).default("none"),
  /** Origins of the operator's own storages, separated by commas. Requests may name them at any address. */
  ALLOW_ORIGINS: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((origin) => origin !== ""))
    .pipe(z.array(Origin)),
  /** Path of the Worker's requests: through Cloudflare's edge, or from the machine that runs workerd. */
  OUTBOUND: z.enum(["edge", "direct"]).default("edge"),
  /** Scheme and host under which clients and nodes reach this Worker. Default: the origin of each request. */
  PUBLIC_URL: HttpUrl.transform(withoutSlash).optional(),
  /**
   * Days that a job's secrets, metadata and notifications are kept after its end. The minimum is one day, because an
   * Idempotency-Key may name the job for that long.
   */
  RETENTION_DAYS: z.coerce
    .number()
    .min(1)
    .max(365)
    .default(RETENTION_MS / DAY_MS),
  /** Days that a job is listed after its end. RETENTION_DAYS counts if it is longer. */
  LIST_DAYS: z.coerce.number().min(1).max(3650).default(30),
  /** Unfinished jobs that an account may have, unless it has a limit of its own. */
  MAX_UNFINISHED_JOBS: z.coerce.number().int().min(1).max(100_000).default(10_000),
  /** Bytes of all uploads that an account may have. */
  MAX_UPLOADED_BYTES: z.coerce.number().int().min(1).default(1e12),
  /** Size limit of the database: D1's for a Paid account, unless set. */
  MAX_DATABASE_BYTES: z.coerce.number().int().min(1e8).default(10e9),
  /** The accounts that may use folders of nodes: `media:<account id>,archive:<account id>+<account id>,open:*`. */
  FOLDERS: z
    .string()
    .default("")
    .transform((text) => text.split(",").map((entry) => entry.trim()))
    .transform((entries) => entries.filter((entry) => entry !== "").map((entry) => entry.split(":")))
    .pipe(z.array(z.tuple([FolderName, z.string().min(1)], "FOLDERS must be such as media:<account id>,open:*"))),
  /** Backblaze's API, to look up buckets. */
  B2_API_URL: HttpUrl.default("https://api.backblazeb2.com"),
  /** Replaces the endpoints of AWS for notifications of type `sns`. */
  SNS_ENDPOINT: HttpUrl.optional(),
  /** The part of the world for the objects; empty: anywhere. */
  JURISDICTION: z.enum(["", "eu", "us", "fedramp"]).default(""),
  /** The URL of a template's token, which gets R2's events from a queue. */
  BUCKET_EVENTS_URL: HttpUrl.optional(),
  LOG_LEVEL: LogLevelSetting,
  SCRATCH_ENDPOINT: HttpUrl.transform(withoutSlash).optional(),
  SCRATCH_REGION: Text,
  SCRATCH_BUCKET: Text,
  SCRATCH_ACCESS_KEY_ID: Text,
  SCRATCH_SECRET_ACCESS_KEY: Text,
  /** True if many nodes at a time may read a source at its origin, instead of a copy in the scratch bucket. */
  ULTRAFAST_READ_ORIGIN: z
    .enum(["true", "false"])
    .default("false")
    .transform((value) => value === "true"),
});

type Required = "ADMIN_TOKEN" | "ALLOW_PRIVATE";
type KeyVariables = { readonly [Name in "MASTER_SECRET" | "SEALING_KEYS"]?: string | undefined };
/** The variables and secrets as the operator writes them. */
export type SettingsVariables = { [Name in Required]: string } & {
  [Name in Exclude<keyof typeof Variables.shape, Required>]?: string;
};

/** The operator's bucket for the chunks of a job until they are joined (`settings.ultrafast`). */
export type ScratchSettings = { readonly bucket: S3Bucket; readonly keys: AccessKeys; readonly readOrigin: boolean };

export type Settings = {
  adminToken: string;
  /** Null: only the admin token reads the state of the fleet. */
  metricsToken: string | null;
  sealingKeys: SealingKeys;
  allowPrivate: AllowPrivate;
  /** Without a slash at the end; null: the origin of each request. */
  publicUrl: string | null;
  retentionMs: number;
  /** Retention of the row of an ended job. */
  listMs: number;
  maxUnfinishedJobs: number;
  /** Limit for all uploads of an account together. */
  maxUploadedBytes: number;
  maxDatabaseBytes: number;
  /** Ids of the accounts that may use a folder, or `*`. */
  folders: ReadonlyMap<string, ReadonlySet<string>>;
  b2ApiUrl: string;
  /** Null: AWS's own endpoints. */
  snsEndpoint: string | null;
  /** Null: videos are not encoded in chunks. */
  scratch: ScratchSettings | null;
};

/** Parses and caches the settings. Throws an error for the operator that names the invalid variable. */
export const settingsOf = rememberedBy(parseSettings);

function parseSettings(variables: SettingsVariables): Settings {
  const parsed = Variables.safeParse(variables);
  if (!parsed.success) throw new Error(`The Worker's settings are not valid: ${z.prettifyError(parsed.error)}`);
  const { data } = parsed;
  const allowPrivate = withOrigins(data.ALLOW_PRIVATE, data.ALLOW_ORIGINS);
  return {
    adminToken: data.ADMIN_TOKEN,
    metricsToken: data.METRICS_TOKEN ?? null,
    sealingKeys: sealingKeysOf(data),
    allowPrivate: data.OUTBOUND === "edge" ? byName(allowPrivate) : allowPrivate,
    publicUrl: data.PUBLIC_URL ?? null,
    retentionMs: data.RETENTION_DAYS * DAY_MS,
    listMs: Math.max(data.LIST_DAYS, data.RETENTION_DAYS) * DAY_MS,
    maxUnfinishedJobs: data.MAX_UNFINISHED_JOBS,
    maxUploadedBytes: data.MAX_UPLOADED_BYTES,
    maxDatabaseBytes: data.MAX_DATABASE_BYTES,
    folders: new Map(data.FOLDERS.map(([name, accounts]) => [name, new Set(accounts.split("+"))])),
    b2ApiUrl: data.B2_API_URL,
    snsEndpoint: data.SNS_ENDPOINT ?? null,
    scratch: scratchSettings(data),
  };
}

/**
 * The origin under which clients reach the service, also if its other settings are missing. `url`: a URL at which a
 * client has reached it.
 */
export const publicOrigin = ({ PUBLIC_URL }: Pick<SettingsVariables, "PUBLIC_URL">, url: string): string =>
  Variables.shape.PUBLIC_URL.safeParse(PUBLIC_URL).data ?? new URL(url).origin;

/** The keys of MASTER_SECRET come first, so that a service with keys of its own can change to MASTER_SECRET. */
export const sealingKeysOf = rememberedBy(({ MASTER_SECRET, SEALING_KEYS }: KeyVariables): SealingKeys => {
  const keys = [
    ...(MASTER_SECRET ? masterKeysOf(MASTER_SECRET) : []),
    ...(SEALING_KEYS ? parseSealingKeys(SEALING_KEYS) : []),
  ];
  if (keys.length === 0) {
    throw new Error(
      "The Worker's settings are not valid: MASTER_SECRET must be set; create it with: openssl rand -base64 32",
    );
  }
  return keys;
});

/**
 * Returns null if no variable of the bucket is set. Throws an error for the operator that names the missing variables.
 */
function scratchSettings(data: z.infer<typeof Variables>): ScratchSettings | null {
  const missing = SCRATCH_NEEDS.filter((name) => data[name] === undefined);
  if (missing.length === SCRATCH_NEEDS.length) return null;
  if (missing.length > 0) {
    throw new Error(`The Worker's settings are not valid: the scratch bucket also needs ${missing.join(", ")}`);
  }
  return {
    bucket: {
      endpoint: data.SCRATCH_ENDPOINT ?? "",
      region: data.SCRATCH_REGION ?? "",
      bucket: data.SCRATCH_BUCKET ?? "",
      // Every S3-compatible service supports it.
      addressing: "path",
    },
    keys: { accessKeyId: data.SCRATCH_ACCESS_KEY_ID ?? "", secretAccessKey: data.SCRATCH_SECRET_ACCESS_KEY ?? "" },
    readOrigin: data.ULTRAFAST_READ_ORIGIN,
  };
}
