// The trial of a job's storage, which encoding waits for.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { jobOf } from "../../rpc/job.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { settingsOf } from "../../settings.ts";
import { checkStorageAccess } from "../../storage/check-storage-access.ts";
import { openStore } from "../../storage/open-store.ts";
import { NOWHERE, newSpec, PROBE } from "../../testing/jobs.ts";
import { loadState } from "../../testing/stored-state.ts";
import { openJobSecrets } from "../secrets/job-secrets.ts";

const { endpoint, accessKeyId, secretAccessKey } = inject("s3");
const S3 = {
  ...{ service: "s3other", endpoint, bucket: "copra", region: "us-east-1", force_path_style: true },
  credentials: { access_key_id: accessKeyId, secret_access_key: secretAccessKey },
};
const answering = (status: number, body = ""): string =>
  `${inject("answers")}/${btoa(JSON.stringify({ status, body })).replaceAll("/", "_").replaceAll("+", "-")}`;
const { account, container, key, endpoint: azureEndpoint } = inject("azure");
const AZURE = { service: "azure", endpoint: azureEndpoint, container, credentials: { account, api_key: key } };

const stubOf = ({ id }: JobSpec) => jobOf(env, id);
const stateOf = (spec: JobSpec) => runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));
/** A job as it is asked for now. */
const freshSpec = async (storage: object, more: object = {}): Promise<JobSpec> => ({
  ...(await newSpec({ storage, ...more })),
  createdAt: Date.now(),
});

describe("a storage check", () => {
  const rows: [string, object, Awaited<ReturnType<typeof checkStorageAccess>>["kind"], RegExp | null][] = [
    ["a bucket", S3, "accepted", null],
    ["no such bucket", { ...S3, bucket: "nowhere" }, "rejected", /NoSuchBucket\): the bucket does not exist/],
    [
      "no such key",
      { ...S3, credentials: { ...S3.credentials, access_key_id: "X" } },
      "rejected",
      /InvalidAccessKeyId/,
    ],
    [
      "a wrong secret",
      { ...S3, credentials: { ...S3.credentials, secret_access_key: "x" } },
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
      { ...S3, endpoint: "http://storage.invalid:9000" },
      "unreachable",
      /storage.invalid:9000 .*does not exist in DNS/,
    ],
    ["a failing storage", { ...S3, endpoint: answering(503) }, "unclear", null],
    ["a gateway's 403", { ...S3, endpoint: answering(403, "<html>no</html>") }, "unclear", null],
    [
      "one without multipart uploads",
      { ...S3, endpoint: answering(501, "<Error><Code>NotImplemented</Code></Error>") },
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
  ];
  it.each(rows)("of %s", async (_, storage, kind, message) => {
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
    const spec = await freshSpec(S3);
    await stubOf(spec).create(spec);
    await vi.waitFor(async () => {
      // What was aborted is written with the next alarm at the latest.
      await runDurableObjectAlarm(stubOf(spec));
      expect(await stateOf(spec)).toMatchObject({ storageCheck: null, orphans: [] });
    });
    const [inspect] = await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "inspect", max: 1 });
    const { lease, token } = inspect as { lease: LeaseId; token: string };
    await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
    expect(await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toHaveLength(1);
  });

  it("fails at once when the storage does not respond, encodes nothing, and revokes its inspection", async () => {
    const spec = await freshSpec(NOWHERE, { notification: { type: "http", url: "http://127.0.0.1:9/", events: true } });
    await stubOf(spec).create(spec);
    const [inspect] = await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "inspect", max: 1 });
    const { lease, token } = inspect as { lease: LeaseId; token: string };
    expect(await stubOf(spec).renew([{ lease, token }])).toMatchObject({ dropped: [] });
    await vi.waitFor(
      async () => {
        await runDurableObjectAlarm(stubOf(spec));
        expect((await stateOf(spec))?.status).toBe("job.failed");
      },
      { timeout: 15_000, interval: 200 },
    );
    const state = await stateOf(spec);
    expect(state?.outbox.map(({ event }) => event)).toEqual(["output.failed", "output.failed", "job.failed"]);
    expect(state?.outputs[1]?.failure).toMatchObject({ code: "storage_unreachable" });
    expect(await stubOf(spec).renew([{ lease, token }])).toMatchObject({ dropped: [lease] });
    expect(await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toEqual([]);
  });

  it("starts no encode before the storage check ends or times out", async () => {
    const spec = await freshSpec(NOWHERE);
    await stubOf(spec).create(spec);
    const [inspect] = await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "inspect", max: 1 });
    const { lease, token } = inspect as { lease: LeaseId; token: string };
    await stubOf(spec).complete(lease, { token, result: { kind: "inspect", probe: PROBE } });
    expect(await stubOf(spec).claim({ nodeId: "node", session: "s", slotClass: "encode", max: 1 })).toEqual([]);
  });
});
