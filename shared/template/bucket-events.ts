// Events of object storages: Amazon S3 (direct and by EventBridge), Cloudflare R2, Google Cloud Storage (Pub/Sub push)
// and Azure Blob Storage (Event Grid). Formats: S3 User Guide "Event message structure" and "EventBridge event message
// structure"; R2 "Event notifications"; Cloud Storage "Pub/Sub notifications"; Event Grid "Azure Blob Storage".
import * as z from "zod";
import { isObject } from "../request/parse-section.ts";

/** A created object. `version` is another one for each version of the object. */
export type BucketEvent = { readonly bucket: string; readonly key: string; readonly version: string };

const Name = z.string().min(1).max(1024);
const text = z.string().max(1024).nullish();

const S3Record = z
  .object({
    // MinIO writes `s3:ObjectCreated:Put`.
    eventName: z.string().regex(/^(?:s3:)?ObjectCreated:/),
    s3: z.object({
      bucket: z.object({ name: Name }),
      object: z.object({ key: Name, versionId: text, sequencer: text, eTag: text }),
    }),
  })
  .transform(({ s3: { bucket, object } }) => created(bucket.name, fromForm(object.key), object));

const EventBridge = z
  .object({
    source: z.literal("aws.s3"),
    "detail-type": z.literal("Object Created"),
    detail: z.object({
      bucket: z.object({ name: Name }),
      object: z.object({ key: Name, "version-id": text, sequencer: text, etag: text }),
    }),
  })
  .transform(({ detail: { bucket, object } }) => {
    const { key, sequencer, etag: eTag } = object;
    return created(bucket.name, key, { versionId: object["version-id"], sequencer, eTag });
  });

const R2 = z
  .object({
    action: z.enum(["PutObject", "CopyObject", "CompleteMultipartUpload"]),
    bucket: Name,
    object: z.object({ key: Name, eTag: text }),
    eventTime: text,
  })
  .transform(({ bucket, object: { key, eTag }, eventTime }) => {
    return created(bucket, key, { sequencer: `${eTag ?? ""} ${eventTime ?? ""}` });
  });

const PubSub = z
  .object({
    message: z.object({
      attributes: z.object({
        eventType: z.literal("OBJECT_FINALIZE"),
        bucketId: Name,
        objectId: Name,
        objectGeneration: text,
      }),
    }),
  })
  .transform(({ message: { attributes } }) => {
    return created(attributes.bucketId, attributes.objectId, { versionId: attributes.objectGeneration });
  });

/** `/blobServices/default/containers/<container>/blobs/<path>`. */
const BLOB = /^\/blobServices\/[^/]+\/containers\/([^/]+)\/blobs\/(.+)$/s;

const blobCreated = { subject: z.string().max(2048).regex(BLOB), data: z.object({ eTag: text, sequencer: text }) };
const EventGrid = z
  .union([
    z.object({ eventType: z.literal("Microsoft.Storage.BlobCreated"), ...blobCreated }),
    // CloudEvents 1.0.
    z.object({ type: z.literal("Microsoft.Storage.BlobCreated"), ...blobCreated }),
  ])
  .transform(({ subject, data }) => {
    const [, container = "", path = ""] = BLOB.exec(subject) ?? [];
    return created(container, path, data);
  });

const AnyEvent = z.union([S3Record, EventBridge, R2, PubSub, EventGrid]);

type Versions = {
  versionId?: string | null | undefined;
  sequencer?: string | null | undefined;
  eTag?: string | null | undefined;
};

/** S3 writes the version `null` in buckets without versions. There, a sequencer is different for each write. */
function created(bucket: string, key: string, { versionId, sequencer, eTag }: Versions): BucketEvent {
  const version = versionId && versionId !== "null" ? versionId : sequencer || eTag || "";
  return { bucket, key, version };
}

/** Keys in S3's own events are encoded like forms. */
function fromForm(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key;
  }
}

/** Events of a known storage, also those that create no object. */
const KnownEvent = z.union([
  z.object({ eventName: z.string(), s3: z.object({}) }),
  z.object({ Event: z.literal("s3:TestEvent") }),
  z.object({ source: z.literal("aws.s3") }),
  z.object({ action: z.string(), bucket: z.string(), object: z.object({}) }),
  z.object({ message: z.object({ attributes: z.object({ eventType: z.string(), bucketId: z.string() }) }) }),
  z.object({ eventType: z.string().startsWith("Microsoft.") }),
  z.object({ type: z.string().startsWith("Microsoft.") }),
]);

/** Services send up to ten events in a request; forwarders of queues a hundred. */
export const MAX_EVENTS = 100;

/** A delivery: its number of events, and the created objects among them, which are not read from too many events. */
export type BucketEvents = { readonly count: number; readonly created: readonly BucketEvent[] };

/** Reads a delivery; null if none of its events has the form of a known storage. */
export function readEvents(body: unknown): BucketEvents | null {
  const events = eventsIn(body);
  if (events === null || events.length > MAX_EVENTS) return events && { count: events.length, created: [] };
  if (events.length > 0 && !events.some((event) => KnownEvent.safeParse(event).success)) return null;
  return { count: events.length, created: events.flatMap((event) => AnyEvent.safeParse(event).data ?? []) };
}

function eventsIn(body: unknown): readonly unknown[] | null {
  if (Array.isArray(body)) return body;
  if (!isObject(body)) return null;
  return Array.isArray(body.Records) ? body.Records : [body];
}

const Validation = z.tuple([
  z.object({
    eventType: z.literal("Microsoft.EventGrid.SubscriptionValidationEvent"),
    data: z.object({ validationCode: z.string().max(1024) }),
  }),
]);

/** The code of Event Grid's validation handshake, which the response repeats; null for another delivery. */
export const validationCode = (body: unknown): string | null =>
  Validation.safeParse(body).data?.[0].data.validationCode ?? null;

const Filter = z.union(
  [z.string().max(1024), z.array(z.string().max(1024)).min(1).max(20)],
  "must be a string or a list",
);

/** The section `ingest` of a template. */
export const IngestBody = z.strictObject({ prefix: Filter.exactOptional(), suffix: Filter.exactOptional() });

/** The filters of a template: an object's key must have one of the prefixes and one of the suffixes. */
export function filtersOf(ingest: unknown): { prefixes: string[]; suffixes: string[] } {
  const { prefix = "", suffix = "" } = IngestBody.safeParse(ingest).data ?? {};
  return { prefixes: [prefix].flat(), suffixes: [suffix].flat() };
}

/** True if the event of an object passes the filters of a template. */
export function isWanted(key: string, ingest: unknown): boolean {
  const { prefixes, suffixes } = filtersOf(ingest);
  return prefixes.some((prefix) => key.startsWith(prefix)) && suffixes.some((suffix) => key.endsWith(suffix));
}

/** The variables that an event has values for. */
export function eventVars({ bucket, key }: BucketEvent): Readonly<Record<string, string>> {
  const name = key.slice(key.lastIndexOf("/") + 1);
  return { bucket, key, stem: name.replace(/(?<=.)\.[^.]*$/, "") };
}
