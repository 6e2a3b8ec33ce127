import { describe, expect, it } from "vitest";
import { eventVars, isWanted, readEvents, validationCode } from "./bucket-events.ts";

// The examples of the services' documentation, with other names.

const s3 = (changes: object = {}, object: object = {}) => ({
  eventVersion: "2.1",
  eventSource: "aws:s3",
  eventName: "ObjectCreated:Put",
  s3: {
    bucket: { name: "clips", arn: "arn:aws:s3:::clips" },
    object: {
      key: "in/my+clip%281%29.mov",
      size: 1,
      eTag: "e1",
      versionId: "v1",
      sequencer: "0055AED6DCD90281E5",
      ...object,
    },
  },
  ...changes,
});

const eventBridge = {
  version: "0",
  id: "17793124-05d4-b198-2fde-7ededc63b103",
  "detail-type": "Object Created",
  source: "aws.s3",
  detail: {
    bucket: { name: "clips" },
    object: { key: "in/a+b.mov", size: 5, etag: "e1", "version-id": "v1", sequencer: "617f08299329d189" },
    reason: "PutObject",
  },
};

const r2 = {
  account: "3f4b7e3dcab231cbfdaa90a6a28bd548",
  action: "CompleteMultipartUpload",
  bucket: "clips",
  object: { key: "in/a b.mov", size: 65536, eTag: "c846ff7a18f28c2e262116d6e8719ef0" },
  eventTime: "2024-05-24T19:36:44.379Z",
};

const pubSub = {
  message: {
    attributes: {
      bucketId: "clips",
      eventType: "OBJECT_FINALIZE",
      objectGeneration: "1699632000000000",
      objectId: "in/a b.mov",
      payloadFormat: "JSON_API_V1",
    },
    data: "e30=",
    messageId: "2070443601311540",
  },
  subscription: "projects/p/subscriptions/s",
};

const eventGrid = (type: object) => ({
  topic: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/acc",
  subject: "/blobServices/default/containers/clips/blobs/in/a b.mov",
  id: "831e1650-001e-001b-66ab-eeb76e069631",
  data: {
    api: "PutBlockList",
    eTag: '"0x8D4BCC2E4835CD0"',
    url: "https://acc.blob.core.windows.net/clips/in/a%20b.mov",
  },
  ...type,
});
const blob = { eventType: "Microsoft.Storage.BlobCreated" };

describe("readEvents", () => {
  const rows: [string, unknown, object[]][] = [
    ["Amazon S3", { Records: [s3()] }, [{ bucket: "clips", key: "in/my clip(1).mov", version: "v1" }]],
    [
      "Amazon S3 without versions",
      { Records: [s3({}, { versionId: "null" }), s3({}, { versionId: undefined, sequencer: undefined })] },
      [{ version: "0055AED6DCD90281E5" }, { version: "e1" }],
    ],
    [
      "MinIO",
      { EventName: "s3:ObjectCreated:Put", Records: [s3({ eventName: "s3:ObjectCreated:Put" })] },
      [{ version: "v1" }],
    ],
    ["EventBridge", eventBridge, [{ bucket: "clips", key: "in/a+b.mov", version: "v1" }]],
    ["R2", r2, [{ bucket: "clips", key: "in/a b.mov", version: `${r2.object.eTag} ${r2.eventTime}` }]],
    ["a list of R2 events", [r2, { ...r2, action: "DeleteObject" }, r2], [{}, {}]],
    ["Cloud Storage", pubSub, [{ bucket: "clips", key: "in/a b.mov", version: "1699632000000000" }]],
    ["Event Grid", [eventGrid(blob)], [{ bucket: "clips", key: "in/a b.mov", version: '"0x8D4BCC2E4835CD0"' }]],
    [
      "Event Grid with CloudEvents",
      eventGrid({ specversion: "1.0", type: "Microsoft.Storage.BlobCreated" }),
      [{ key: "in/a b.mov" }],
    ],
    ["a deleted object", { Records: [s3({ eventName: "ObjectRemoved:Delete" })] }, []],
    ["a test event of Amazon S3", { Service: "Amazon S3", Event: "s3:TestEvent", Bucket: "clips" }, []],
    ["a deleted blob", [eventGrid({ eventType: "Microsoft.Storage.BlobDeleted" })], []],
    ["a key that is not encoded", { Records: [s3({}, { key: "100%.mov" })] }, [{ key: "100%.mov" }]],
  ];
  it.each(rows)("reads the created objects of %s", (_, body, events) => {
    const created = readEvents(body)?.created;
    expect(created).toHaveLength(events.length);
    expect(created).toMatchObject(events);
  });

  it.each([["text"], [1], [null], [{}], [{ hello: 1 }], [[{}, { detail: {} }]], [{ Records: [{ eventName: "x" }] }]])(
    "returns null for %j",
    (body) => expect(readEvents(body)).toBe(null),
  );

  it("counts all events of a delivery, if one of them is known", () => {
    expect(readEvents({ Records: [s3(), s3({ eventName: "ObjectRemoved:Delete" }), {}] })?.count).toBe(3);
    expect(readEvents([])).toEqual({ count: 0, created: [] });
  });

  it("reads no event of a delivery with too many", () => {
    const unread = new Proxy(Array(500_000).fill({}), {
      get: (target, name) => {
        if (name === "length") return target.length;
        throw new Error(`Read: ${String(name)}`);
      },
    });
    for (const body of [unread, { Records: unread }]) expect(readEvents(body)).toEqual({ count: 500_000, created: [] });
  });
});

describe("events of buckets", () => {
  it("have the name of the file without its extension as `stem`", () => {
    const stemOf = (key: string) => eventVars({ bucket: "b", key, version: "" }).stem;
    expect(["in/clip.v2.mov", "clip", "in/.hidden", "in/"].map(stemOf)).toEqual(["clip.v2", "clip", ".hidden", ""]);
  });

  const filters: [unknown, boolean][] = [
    [undefined, true],
    [{ prefix: "in/" }, true],
    [{ prefix: "out/" }, false],
    [{ suffix: [".mp4", ".mov"] }, true],
    [{ prefix: "in/", suffix: ".mp4" }, false],
  ];
  it.each(filters)("pass the filters %j: %s", (ingest, isPassed) => {
    expect(isWanted("in/clip.mov", ingest)).toBe(isPassed);
  });

  it("have a validation code only in Event Grid's handshake", () => {
    const data = { validationCode: "512d38b6", validationUrl: "https://example.com" };
    expect(validationCode([{ eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data }])).toBe("512d38b6");
    expect(validationCode([eventGrid(blob)])).toBe(null);
  });
});
