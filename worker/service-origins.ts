// Origins under which nodes reach the service, and the URLs of a task that the service has signed for these origins.
import type { ServiceOrigin } from "#shared/protocol/frames.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { JobSpec } from "./rpc/job-spec.ts";
import type { Settings } from "./settings.ts";
import type { StorageBinding } from "./storage/object-store.ts";

/** Clip of six seconds for an account's first job, among the assets. */
const SAMPLE_PATH = "/assets/sample.mp4";

type OwnSettings = Pick<Settings, "publicUrl" | "scratch">;

const originOf = (url: string): string => new URL(url).origin;
const scratchOrigin = ({ scratch }: OwnSettings): string | null => scratch && originOf(scratch.bucket.endpoint);

/** `requested`: the origin under which the node has reached the service. It counts unless PUBLIC_URL is set. */
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
 * URLs of a job's tasks that the service has signed for its own origins: uploads, its own storage, and a client's
 * bucket on the server of the scratch bucket, which checks the signature. `sourceUrl`: the source's URL in the tasks.
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
 * The target of a client's URL at the service itself; null if the URL leads to another host. Sources are the sample
 * clip and outputs in the service's own storage, which anybody who knows their URLs may read.
 */
export function placeAtService(url: string, { publicUrl }: OwnSettings): "source" | "other" | null {
  if (publicUrl === null || originOf(url) !== originOf(publicUrl)) return null;
  const { pathname } = new URL(url);
  return pathname.startsWith("/storage/") || pathname === SAMPLE_PATH ? "source" : "other";
}
