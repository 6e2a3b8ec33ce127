// The check of a job's storage, which encoding waits for.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { jobOf } from "../../rpc/job.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { settingsOf } from "../../settings.ts";
import { checkStorageAccess } from "../../storage/check-storage-access.ts";
import { openStore } from "../../storage/open-store.ts";
import { NOWHERE, newSpec } from "../../testing/jobs.ts";
import { S3_STORAGE } from "../../testing/s3-storage.ts";
import { loadState } from "../../testing/stored-state.ts";
import { claimFrom, claimOne, inspectSource, renewLeases } from "../../testing/turns.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";
import { newJob } from "../state/job-state.ts";
import { storageMoved } from "./storage-check.ts";

const answering = (status: number, body = "", headers = {}, region?: string): string =>
  `${inject("answers")}/${btoa(JSON.stringify({ status, body, headers, region })).replaceAll("/", "_").replaceAll("+", "-")}`;
const { account, container, key, endpoint: azureEndpoint } = inject("azure");
const AZURE = { service: "azure", endpoint: azureEndpoint, container, credentials: { account, api_key: key } };

const stubOf = ({ id }: JobSpec) => jobOf(env, id);
const stateOf = (spec: JobSpec) => runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));
/** A job that was requested just now. */
const freshSpec = async (storage: object, more: object = {}): Promise<JobSpec> => ({
  ...(await newSpec({ storage, ...more })),
  createdAt: Date.now(),
});

describe("a storage check", () => {
  const rows: [string, object, Awaited<ReturnType<typeof checkStorageAccess>>["kind"], RegExp | null][] = [
    ["a bucket", S3_STORAGE, "accepted", null],
    ["no such bucket", { ...S3_STORAGE, bucket: "nowhere" }, "rejected", /NoSuchBucket\): the bucket does not exist/],
    [
      "no such key",
      { ...S3_STORAGE, credentials: { ...S3_STORAGE.credentials, access_key_id: "X" } },
      "rejected",
      /InvalidAccessKeyId/,
    ],
    [
      "a wrong secret",
      { ...S3_STORAGE, credentials: { ...S3_STORAGE.credentials, secret_access_key: "x" } },
      "rejected",
      /SignatureDoes/,
    ],
    [
      "nobody there",
      NOWHERE,
      "unreachable",
      /^The storage at http:\/\/127.0.0.1:9 refuses connections; check `storage.endp/,
    ],
    [
      "no such host",
      { ...S3_STORAGE, endpoint: "http://storage.invalid:9000" },
      "unreachable",
      /storage.invalid:9000 .*does not exist in DNS/,
    ],
    ["a failing storage", { ...S3_STORAGE, endpoint: answering(503) }, "unclear", null],
    ["a gateway's 403", { ...S3_STORAGE, endpoint: answering(403, "<html>no</html>") }, "unclear", null],
    [
      "one without multipart uploads",
      { ...S3_STORAGE, endpoint: answering(501, "<Error><Code>NotImplemented</Code></Error>") },
      "unclear",
      null,
    ],
    ["a container", AZURE, "accepted", null],
    ["no such container", { ...AZURE, container: "elsewhere" }, "rejected", /ContainerNotFound/],
    ["an upload URL, whatever it responds", { url: `${answering(404)}/in` }, "accepted", null],
    [
      "an upload URL where nobody is",
      { url: "http://127.0.0.1:9/in" },
      "unreachable",
      /upload URL at http:\/\/127.0.0.1:9 refuses/,
    ],
    [
      "an upload URL whose host does not exist",
      { url: "https://storage.invalid/in" },
      "unreachable",
      /upload URL at https:\/\/storage.invalid .*does not exist in DNS/,
    ],
    [
      "a bucket at an IP address, by Cloudflare's edge",
      { ...S3_STORAGE, endpoint: answering(403, "error code: 1003", { server: "cloudflare" }) },
      "unreachable",
      /use a host name in `storage.endpoint`/,
    ],
  ];
  it.each(rows)("reports the right result for %s", async (_, storage, kind, message) => {
    const spec = await newSpec({ storage });
    const { storage: keys } = await openJobSecrets(spec, settingsOf(env).sealingKeys);
    const output = { key: "a", type: "video" } as const;
    const file = { objectName: "trial/a.mp4", contentType: "video/mp4", cacheControl: null, sizeBytes: 0, output };
    const store = openStore(spec, keys, env);
    const trial = await checkStorageAccess(store, file);
    expect(trial.kind).toBe(kind);
    if (message) expect(trial).toMatchObject({ failure: { message: expect.stringMatching(message) } });
    if (trial.kind === "accepted" && trial.uploadId) await store.abort(file.objectName, trial.uploadId);
  });
});

describe("a job", () => {
  it("checks its storage at once, leaves nothing there, and encodes", async () => {
    const spec = await freshSpec(S3_STORAGE);
    await stubOf(spec).create(spec);
    await vi.waitFor(async () => {
      // Aborted uploads are written with the next alarm at the latest.
      await runDurableObjectAlarm(stubOf(spec));
      expect(await stateOf(spec)).toMatchObject({ storageCheck: null, orphans: [] });
    });
    await inspectSource(stubOf(spec));
    expect(await claimFrom(stubOf(spec), { nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toHaveLength(
      1,
    );
  });

  describe("of an account whose storage was checked", () => {
    const keys = S3_STORAGE.credentials;
    const checks = async (...specs: JobSpec[]): Promise<number> => {
      const fetched = vi.spyOn(globalThis, "fetch");
      await Promise.all(specs.map((spec) => stubOf(spec).create(spec)));
      for (const spec of specs) {
        await vi.waitFor(async () => {
          await runDurableObjectAlarm(stubOf(spec));
          expect(await stateOf(spec)).toMatchObject({ storageCheck: null });
        });
      }
      const urls = fetched.mock.calls.map(([request]) => (request instanceof Request ? request.url : String(request)));
      fetched.mockRestore();
      return urls.filter((url) => url.endsWith("?uploads=")).length;
    };

    it("checks it again only with other keys, for another account, or after a failure", async () => {
      const good = { ...S3_STORAGE, path: crypto.randomUUID() };
      const wrong = { ...good, credentials: { ...keys, secret_access_key: "x" } };
      expect(await checks(await freshSpec(good))).toBe(1);
      expect(await checks(await freshSpec(good))).toBe(0);
      expect(await checks(await freshSpec(wrong))).toBe(1);
      expect(await checks({ ...(await freshSpec(good)), accountId: "another" })).toBe(1);
      const failing = await freshSpec(good);
      expect(await checks(failing)).toBe(0);
      const failure = { code: "storage_denied", message: "no" } as const;
      await inspectSource(stubOf(failing));
      const encode = await claimOne(stubOf(failing), "encode");
      const outputs = [0, 1].map((output) => ({ status: "failed" as const, output, failure }));
      await stubOf(failing).complete(encode.lease, { token: encode.token, result: { kind: "encode", outputs } });
      await vi.waitFor(async () => expect((await stateOf(failing))?.status).toBe("job.failed"));
      await vi.waitFor(async () => expect(await checks(await freshSpec(good))).toBe(1));
    });

    it("checks it once for jobs that start together, but a storage that rejects it for each", async () => {
      const good = { ...S3_STORAGE, path: crypto.randomUUID() };
      const wrong = { ...good, credentials: { ...keys, secret_access_key: "x" } };
      const three = (storage: object) => Promise.all([1, 2, 3].map(() => freshSpec(storage)));
      expect(await checks(...(await three(good)))).toBe(1);
      expect(await checks(...(await three(wrong)))).toBe(3);
    });

    it("checks it again after ten minutes", async () => {
      const good = { ...S3_STORAGE, path: crypto.randomUUID() };
      expect(await checks(await freshSpec(good))).toBe(1);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 });
      expect(await checks(await freshSpec(good))).toBe(1);
      vi.useRealTimers();
    });
  });

  it("fails at once when the storage does not respond, encodes nothing, and revokes its inspection", async () => {
    const spec = await freshSpec(NOWHERE, { notification: { type: "http", url: "http://127.0.0.1:9/", events: true } });
    await stubOf(spec).create(spec);
    const [inspect] = await claimFrom(stubOf(spec), { nodeId: "node", session: "s", slotClass: "inspect", max: 1 });
    const { lease, token } = inspect as { lease: LeaseId; token: string };
    expect(await renewLeases(stubOf(spec), [{ lease, token }])).toEqual([]);
    await vi.waitFor(
      async () => {
        await runDurableObjectAlarm(stubOf(spec));
        expect((await stateOf(spec))?.status).toBe("job.failed");
      },
      { interval: 200 },
    );
    const state = await stateOf(spec);
    expect(state?.outbox.map(({ event }) => event)).toEqual(["output.failed", "output.failed", "job.failed"]);
    expect(state?.outputs[1]?.failure).toMatchObject({ code: "storage_unreachable" });
    expect(await renewLeases(stubOf(spec), [{ lease, token }])).toEqual([lease]);
    expect(await claimFrom(stubOf(spec), { nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toEqual([]);
  });

  const inRegion = (region: string, named = region) => answering(400, "", { "x-amz-bucket-region": named }, region);

  it("corrects the region that the storage names, and encodes with it", async () => {
    const spec = await freshSpec({ ...S3_STORAGE, region: "us-east-1", endpoint: inRegion("eu-west-1") });
    await stubOf(spec).create(spec);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(stubOf(spec));
      const corrected = { ...spec.storage, region: "eu-west-1" };
      const state = { status: "job.starting", storageCheck: null, spec: { storage: corrected } };
      expect(await stateOf(spec)).toMatchObject(state);
    });
  });

  it("corrects the region once, and then fails with the storage's error", async () => {
    const endpoint = answering(301, "", { "x-amz-bucket-region": "eu-west-1" });
    const spec = await freshSpec({ ...S3_STORAGE, region: "us-east-1", endpoint });
    await stubOf(spec).create(spec);
    await vi.waitFor(async () => {
      await runDurableObjectAlarm(stubOf(spec));
      expect((await stateOf(spec))?.outputs[0]?.failure?.code).toBe("storage_region_not_valid");
    });
  });

  it.each<[string, object, string, string | null]>([
    ["Amazon S3", { service: "s3", endpoint: undefined }, "eu-west-1", "https://s3.eu-west-1.amazonaws.com"],
    ["China", { service: "s3", endpoint: undefined }, "cn-north-1", "https://s3.cn-north-1.amazonaws.com.cn"],
    ["another service", {}, "eu-west-1", S3_STORAGE.endpoint],
    ["a storage without regions", AZURE, "eu-west-1", null],
  ])("moves to the endpoint of the region: %s", async (_, changes, region, endpoint) => {
    const { force_path_style: _style, endpoint: _endpoint, ...s3 } = S3_STORAGE;
    const body = "container" in changes ? changes : { ...("service" in changes ? s3 : S3_STORAGE), ...changes };
    const state = newJob(await newSpec({ storage: JSON.parse(JSON.stringify({ ...body, region: undefined })) }));
    const moved = storageMoved(state, region);
    expect(moved?.spec.storage ?? null).toEqual(endpoint && expect.objectContaining({ region, endpoint }));
    expect(moved && storageMoved(moved, "eu-north-1")).toBeNull();
  });

  it("starts no encode before the storage check ends or times out", async () => {
    const spec = await freshSpec(NOWHERE);
    await stubOf(spec).create(spec);
    await inspectSource(stubOf(spec));
    expect(await claimFrom(stubOf(spec), { nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toEqual([]);
  });
});
