// Events of object storages: Amazon S3 (direct and by EventBridge), Cloudflare R2, Google Cloud Storage (Pub/Sub push)
// and Azure Blob Storage (Event Grid). Formats: S3 User Guide "Event message structure" and "EventBridge event message
// structure"; R2 "Event notifications"; Cloud Storage "Pub/Sub notifications"; Event Grid "Azure Blob Storage".
import * as z from "zod";

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

const ManyEvents = z.union([
  z.object({ Records: z.array(z.unknown()) }).transform(({ Records }) => Records),
  z.array(z.unknown()),
  z.looseObject({}).transform((one): unknown[] => [one]),
]);

/** The created objects in a delivery, without other events; null if it has not the form of any delivery. */
export function readEvents(body: unknown): BucketEvent[] | null {
  const many = ManyEvents.safeParse(body);
  if (!many.success) return null;
  return many.data.flatMap((one) => AnyEvent.safeParse(one).data ?? []);
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

/** True if the event of an object passes the filters of a template. */
export function isWanted(key: string, ingest: unknown): boolean {
  const { prefix = "", suffix = "" } = IngestBody.safeParse(ingest).data ?? {};
  return [prefix].flat().some((one) => key.startsWith(one)) && [suffix].flat().some((one) => key.endsWith(one));
}

/** The variables that an event has values for. */
export function eventVars({ bucket, key }: BucketEvent): Readonly<Record<string, string>> {
  const name = key.slice(key.lastIndexOf("/") + 1);
  return { bucket, key, stem: name.replace(/(?<=.)\.[^.]*$/, "") };
}
