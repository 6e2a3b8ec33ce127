// Uploads that start before their file is complete, on the S3 server that runs beside the tests.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { UploadTicket } from "#shared/protocol/uploads.ts";
import { jobOf } from "../../rpc/job.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import { newSpec, PROBE } from "../../testing/jobs.ts";
import { S3_STORAGE } from "../../testing/s3-storage.ts";
import { loadState } from "../../testing/stored-state.ts";
import { claimOne } from "../../testing/turns.ts";

const MIB = 2 ** 20;
const OUTPUTS = { "mp4:240p": { path: "early/a.mp4" }, "jpg:90x": { path: "early/a.jpg" } };

type Lease = { readonly lease: LeaseId; readonly token: string };
type Early = { readonly sizeBytes?: number; readonly parts: number[]; readonly output?: number };

const stubOf = (spec: JobSpec) => jobOf(env, spec.id);
const stateOf = (spec: JobSpec) => runInDurableObject(stubOf(spec), (_, { storage }) => loadState(storage));
const uploadOf = async (spec: JobSpec) =>
  (await stateOf(spec))?.tasks.find(({ id }) => id === "encode")?.uploads["0/1"];

async function encoding(storage: object = S3_STORAGE): Promise<{ spec: JobSpec; lease: Lease }> {
  const spec = await newSpec({ outputs: OUTPUTS, storage });
  await stubOf(spec).create(spec);
  const claim = async (slotClass: "inspect" | "encode"): Promise<Lease> => {
    const task = await claimOne(stubOf(spec), slotClass, "a");
    return task as Lease;
  };
  const inspect = await claim("inspect");
  await stubOf(spec).complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
  return { spec, lease: await claim("encode") };
}

const ask = (spec: JobSpec, { lease, token }: Lease, { sizeBytes = 0, parts, output = 0 }: Early) =>
  stubOf(spec).uploads(lease, {
    token,
    files: [{ output, file: 1, sizeBytes, early: { expectedBytes: 60 * MIB, parts } }],
  });
async function ticketOf(asked: ReturnType<typeof ask>): Promise<UploadTicket> {
  const answer = await asked;
  const ticket = answer.ok && "uploads" in answer.value ? answer.value.uploads[0] : undefined;
  if (!ticket) throw new Error(JSON.stringify(answer));
  return ticket as UploadTicket;
}
const idOf = (ticket: UploadTicket) => new URL(ticket.parts[0]?.url ?? "").searchParams.get("uploadId");
const complete = (spec: JobSpec, { lease, token }: Lease, sizeBytes: number, etags: string[]) => {
  const files = [{ output: 0, file: 1, sizeBytes, etags }];
  const failed = { status: "failed", output: 1, failure: { code: "encoding_failed", message: "no" } };
  const result = { kind: "encode", outputs: [{ status: "made", output: 0, files, probe: PROBE }, failed] } as unknown;
  return stubOf(spec).complete(lease, { token, result: result as TaskResult });
};
const put = async ({ parts: [part] }: UploadTicket, fill: number) =>
  fetch(part?.url ?? "", { method: "PUT", body: new Uint8Array(part?.sizeBytes ?? 0).fill(fill) });

it("an early upload stores parts while the size is unknown, and is completed with the last stated size", async () => {
  const { spec, lease } = await encoding();
  const first = await ticketOf(ask(spec, lease, { parts: [1, 2] }));
  expect(first.partBytes).toBe(5 * MIB);
  expect(first.parts.map(({ offset, sizeBytes }) => [offset, sizeBytes])).toEqual([
    [5 * MIB, 5 * MIB],
    [10 * MIB, 5 * MIB],
  ]);
  expect(await uploadOf(spec)).toMatchObject({ sizeBytes: 0, partCount: 0, partBytes: 5 * MIB });
  const etag = (await put(first, 1)).headers.get("etag") ?? "";
  const end = 11 * MIB + 5;
  const last = await ticketOf(ask(spec, lease, { sizeBytes: end, parts: [2] }));
  const front = await ticketOf(ask(spec, lease, { sizeBytes: end, parts: [0] }));
  expect([idOf(last), last.parts[0]?.sizeBytes]).toEqual([idOf(first), MIB + 5]);
  const etags = [(await put(front, 0)).headers.get("etag") ?? "", etag, (await put(last, 2)).headers.get("etag") ?? ""];
  expect((await fetch(`${S3_STORAGE.endpoint}/copra/early/a.mp4`)).status).toBe(404);
  await complete(spec, lease, end, etags);
  await vi.waitFor(async () => expect((await stateOf(spec))?.outputs[0]?.phase).toBe("done"));
  const stored = new Uint8Array(await (await fetch(`${S3_STORAGE.endpoint}/copra/early/a.mp4`)).arrayBuffer());
  expect([stored.length, stored[5 * MIB - 1], stored[5 * MIB], stored[10 * MIB]]).toEqual([end, 0, 1, 2]);
});

it("an early upload is aborted if the node gives it up for a whole file, and if its output fails", async () => {
  const { spec, lease } = await encoding();
  const early = await ticketOf(ask(spec, lease, { parts: [1] }));
  const whole = { token: lease.token, files: [{ output: 0, file: 1, sizeBytes: 20 * MIB }] };
  const answer = await stubOf(spec).uploads(lease.lease, whole);
  expect(answer).toMatchObject({ ok: true, value: { uploads: [{ parts: [{ sizeBytes: 16 * MIB }, {}] }] } });
  const again = await ticketOf(ask(spec, lease, { parts: [1] }));
  expect(idOf(again)).not.toBe(idOf(early));
  const failure = { code: "input_not_media", message: "no" } as const;
  await stubOf(spec).fail(lease.lease, { token: lease.token, failure });
  await vi.waitFor(async () => {
    await runDurableObjectAlarm(stubOf(spec));
    expect((await stateOf(spec))?.orphans).toEqual([]);
  });
  expect([(await put(early, 1)).status, (await put(again, 1)).status]).toEqual([404, 404]);
});

it("an early upload starts again for a size other than the stated size", async () => {
  const { spec, lease } = await encoding();
  const first = await ticketOf(ask(spec, lease, { sizeBytes: 6 * MIB, parts: [1] }));
  expect(idOf(await ticketOf(ask(spec, lease, { sizeBytes: 6 * MIB, parts: [0] })))).toBe(idOf(first));
  const second = await ticketOf(ask(spec, lease, { sizeBytes: 20 * MIB, parts: [2] }));
  expect(idOf(second)).not.toBe(idOf(first));
  expect(idOf(await ticketOf(ask(spec, lease, { parts: [1] })))).not.toBe(idOf(second));
});

it("an early upload cannot end an output before its size is stated", async () => {
  const { spec, lease } = await encoding();
  await ticketOf(ask(spec, lease, { parts: [0] }));
  await complete(spec, lease, 0, ['"e"']);
  expect((await stateOf(spec))?.outputs[0]?.phase).not.toBe("done");
});

it.each<[string, Early]>([
  ["an image", { output: 1, parts: [0] }],
  ["a part after the end", { sizeBytes: 5 * MIB, parts: [1] }],
  ["more parts than storages allow", { sizeBytes: 5 * MIB * 10_001, parts: [0] }],
])("an early upload is rejected for %s", async (_, asked) => {
  const { spec, lease } = await encoding();
  const answer = await ask(spec, lease, asked);
  expect(answer).toMatchObject({ ok: false, error: { code: "report_not_valid" } });
});

it("an early upload has no parts if each file is a single request", async () => {
  const { spec, lease } = await encoding({ url: "http://127.0.0.1:9/" });
  expect(await ticketOf(ask(spec, lease, { parts: [1] }))).not.toHaveProperty("partBytes");
});
