// The scratch bucket, where the chunks of films lie until they are joined: the operator's own, for `settings.ultrafast`.
import * as z from "zod";
import type { AccessKeys, S3Bucket } from "#shared/request/storage/storage-spec.ts";

/** What the bucket cannot do without: all of these, or none. */
const NEEDED = [
  "SCRATCH_ENDPOINT",
  "SCRATCH_REGION",
  "SCRATCH_BUCKET",
  "SCRATCH_ACCESS_KEY_ID",
  "SCRATCH_SECRET_ACCESS_KEY",
] as const;

const text = z.string().trim().min(1).optional();

/** Variables and secrets of the Worker. */
export const ScratchVariables = z.object({
  SCRATCH_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .optional(),
  SCRATCH_REGION: text,
  SCRATCH_BUCKET: text,
  SCRATCH_ACCESS_KEY_ID: text,
  SCRATCH_SECRET_ACCESS_KEY: text,
  /** The folder that all scratch lies in: nothing else may, since it is deleted. */
  SCRATCH_PREFIX: z
    .string()
    .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/, "must be a folder of plain letters, such as copra-scratch")
    .default("copra-scratch"),
  /** How long the finished chunks of a failed job are kept for its retry. */
  SCRATCH_KEEP_MINUTES: z.coerce.number().min(0).max(1440).default(60),
  /** Whether nodes may read a source where it is, many at a time, in place of a copy in the scratch bucket. */
  ULTRAFAST_READ_ORIGIN: z
    .enum(["true", "false"])
    .default("false")
    .transform((word) => word === "true"),
});
/** As the operator writes them. */
export type ScratchVariables = { [Name in keyof typeof ScratchVariables.shape]?: string };

export type ScratchSettings = {
  readonly bucket: S3Bucket;
  readonly keys: AccessKeys;
  readonly prefix: string;
  readonly keepMs: number;
  readonly readOrigin: boolean;
};

/** Null when nothing is set. Throws a sentence for the operator that names what is missing. */
export function scratchSettings(set: z.infer<typeof ScratchVariables>): ScratchSettings | null {
  const missing = NEEDED.filter((name) => set[name] === undefined);
  if (missing.length === NEEDED.length) return null;
  if (missing.length > 0) {
    throw new Error(`The Worker's settings are not valid: the scratch bucket also needs ${missing.join(", ")}`);
  }
  return {
    bucket: {
      endpoint: set.SCRATCH_ENDPOINT ?? "",
      region: set.SCRATCH_REGION ?? "",
      bucket: set.SCRATCH_BUCKET ?? "",
      // Every service that speaks S3 takes it.
      addressing: "path",
    },
    keys: { accessKeyId: set.SCRATCH_ACCESS_KEY_ID ?? "", secretAccessKey: set.SCRATCH_SECRET_ACCESS_KEY ?? "" },
    prefix: set.SCRATCH_PREFIX,
    keepMs: set.SCRATCH_KEEP_MINUTES * 60_000,
    readOrigin: set.ULTRAFAST_READ_ORIGIN,
  };
}
