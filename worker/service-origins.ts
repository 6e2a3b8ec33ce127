// Where nodes reach the service itself, and which URLs of a task the service has signed for that.
import type { ServiceOrigin } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { JobSpec } from "./rpc/job-spec.ts";
import type { Settings } from "./settings.ts";
import type { StorageBinding } from "./storage/object-store.ts";

/** A clip of six seconds for an account's first job; one of the assets. */
const SAMPLE_PATH = "/assets/sample.mp4";

type OwnSettings = Pick<Settings, "publicUrl" | "scratch">;

const originOf = (url: string): string => new URL(url).origin;
const scratchOrigin = ({ scratch }: OwnSettings): string | null => scratch && originOf(scratch.bucket.endpoint);

/** `requested`: the origin under which the node has reached the service, which counts unless PUBLIC_URL is set. */
export function serviceOrigins(
  settings: OwnSettings,
  { STORAGE }: StorageBinding,
  requested: string,
): readonly ServiceOrigin[] {
  const scratch = scratchOrigin(settings);
  return [
    // Uploads of clients, and the service's own storage.
    ...(STORAGE ? [{ origin: originOf(settings.publicUrl ?? requested), use: "control plane" as const }] : []),
    ...(scratch === null ? [] : [{ origin: scratch, use: "scratch" as const }]),
  ];
}

type OwnUrls = NonNullable<Assignment["ownUrls"]>;

/**
 * Which URLs of a job's tasks the service has signed for its own origins: uploads, its own storage, and a client's
 * bucket on the server of the scratch bucket, which checks the signature. `sourceUrl`: as tasks have it.
 */
export function ownUrlsOf(
  { input, storage }: Pick<JobSpec, "input" | "storage">,
  sourceUrl: string,
  settings: OwnSettings,
): OwnUrls {
  const atScratch = (url: string): boolean => originOf(url) === scratchOrigin(settings);
  const isOwnSource =
    input.kind === "upload" ||
    (input.kind === "bucket" && atScratch(sourceUrl)) ||
    (input.kind === "url" && placeAtService(sourceUrl, settings) === "source");
  const isOwnStorage = storage.kind === "builtin" || (storage.kind === "s3" && atScratch(storage.endpoint));
  return [...(isOwnSource ? (["source"] as const) : []), ...(isOwnStorage ? (["storage"] as const) : [])];
}

/**
 * What a URL of a client leads to at the service itself; null: to another host. Sources are outputs in the service's
 * own storage, which anybody who knows their URLs may read, and the sample clip.
 */
export function placeAtService(url: string, { publicUrl }: OwnSettings): "source" | "other" | null {
  if (publicUrl === null || originOf(url) !== originOf(publicUrl)) return null;
  const { pathname } = new URL(url);
  return pathname.startsWith("/storage/") || pathname === SAMPLE_PATH ? "source" : "other";
}
