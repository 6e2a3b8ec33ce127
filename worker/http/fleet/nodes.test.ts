// Reports on a lease require its token. Without the token, nothing changes and no information leaks.
import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, expect, it, vi } from "vitest";
import { type LeaseId, leaseId, newJobId, parseLeaseId } from "#shared/ids.ts";
import { jobOf } from "../../rpc/job.ts";
import { basic, bearer, jobBody, newAccount, newNodeToken, PROBE, send } from "../../testing/jobs.ts";
import { ROUTES } from "../../testing/routes.ts";
import { loadState } from "../../testing/stored-state.ts";
import { claimOne, renewLeases } from "../../testing/turns.ts";

let authorization: Record<string, string>;
let node: Record<string, string>;
beforeAll(async () => {
  authorization = basic((await newAccount()).key);
  node = bearer(await newNodeToken());
});

type Lease = { lease: string; token: string };

/** Creates a job with a task that a node has: its inspection, or its encoding after the inspection. */
async function leased(slotClass: "inspect" | "encode"): Promise<Lease> {
  const created = await send("/v2/jobs", { method: "POST", body: jobBody(), headers: authorization });
  const { id } = created.body as { id: string };
  const inspect = await claim(id, "inspect");
  if (slotClass === "inspect") return inspect;
  const body = { token: inspect.token, result: { kind: "inspect", probe: PROBE } };
  await send(`/v2/nodes/leases/${inspect.lease}/complete`, { method: "POST", body, headers: node });
  // Encoding waits for the write check of the storage.
  return vi.waitFor(() => claim(id, "encode"));
}

async function claim(id: string, slotClass: "inspect" | "encode"): Promise<Lease> {
  const claimed = await claimOne(jobOf(env, id), slotClass, "node");
  return { lease: claimed.lease, token: claimed.token };
}

/** Bodies of each verb, without the token. */
const FAILED = { status: "failed", output: 0, failure: { code: "node_lost", message: "m" } };
const BODIES: Readonly<Record<string, readonly object[]>> = {
  uploads: [{ files: [{ output: 0, file: 1, sizeBytes: 1 }] }],
  scratch: [{ puts: [{ name: "inspect-1/source-1", sizeBytes: 1 }], gets: [] }],
  chunks: [{ from: 0 }],
  outputs: [{ outputs: [{ status: "failed", output: 0, failure: { code: "storage_denied", message: "m" } }] }],
  complete: [
    { result: { kind: "inspect", probe: PROBE } },
    { result: { kind: "encode", outputs: [FAILED] } },
    { result: { kind: "audio", tracks: [] } },
  ],
  fail: [{ failure: { code: "input_not_media", message: "m" } }],
};

const parts = (lease: string) => {
  const named = parseLeaseId(lease);
  if (!named) throw new Error(`${lease} is not a lease`);
  return named;
};

/** Wrong proofs, from a valid lease and a lease of another job. */
const THIEVES: readonly [string, (held: Lease, other: Lease) => Lease][] = [
  ["a guessed token", ({ lease }) => ({ lease, token: "A".repeat(28) })],
  ["the token of another job's lease", ({ lease }, { token }) => ({ lease, token })],
  ["a truncated token", ({ lease, token }) => ({ lease, token: token.slice(0, -1) })],
  [
    "an attempt that is still to come",
    ({ lease, token }) => {
      const { job, task, attempt } = parts(lease);
      return { lease: leaseId(job, task, attempt + 1), token };
    },
  ],
  ["a task that there is not", ({ lease, token }) => ({ lease: leaseId(parts(lease).job, "join-1", 1), token })],
];

const verbs = ROUTES.flatMap(({ path }) => /\/leases\/:lease\/(\w+)$/.exec(path)?.[1] ?? []);
it.each(verbs)("%s without the lease gets the response for an unknown job, and changes nothing", async (verb) => {
  const bodies = BODIES[verb];
  if (!bodies) throw new Error(`What is the body of ${verb}? Say so in BODIES`);
  const report = ({ lease, token }: Lease, body: object) =>
    send(`/v2/nodes/leases/${lease}/${verb}`, { method: "POST", body: { token, ...body }, headers: node });
  for (const slotClass of ["inspect", "encode"] as const) {
    const [held, other] = [await leased(slotClass), await leased(slotClass)];
    const job = jobOf(env, parts(held.lease).job);
    const stateOf = () => runInDurableObject(job, (_, { storage }) => loadState(storage));
    for (const [what, steal] of THIEVES) {
      // Renews the lease, so that it does not expire during the test.
      await renewLeases(job, [{ lease: held.lease as LeaseId, token: held.token }]);
      const before = await stateOf();
      const stolen = steal(held, other);
      for (const body of bodies) {
        const [refused, nobodys] = [
          await report(stolen, body),
          await report({ lease: "AAAAAAAAAAAAAA.encode.1", token: stolen.token }, body),
        ];
        expect([what, refused.status, refused.body.error_code]).toEqual([what, 409, "lease_superseded"]);
        expect([refused.body, [...refused.headers]]).toEqual([nobodys.body, [...nobodys.headers]]);
      }
      expect(await stateOf()).toEqual(before);
    }
  }
});

it("rejects the token of an earlier attempt after another node has the task", async () => {
  const first = await leased("inspect");
  const body = { failure: { code: "node_lost", message: "m" } };
  const fail = ({ lease, token }: Lease) =>
    send(`/v2/nodes/leases/${lease}/fail`, { method: "POST", body: { token, ...body }, headers: node });
  const { job } = parts(first.lease);
  await fail(first);
  const second = await vi.waitFor(() => claim(job, "inspect"));
  expect((await fail(first)).status).toBe(409);
  // The earlier token is also invalid for the new attempt.
  expect((await fail({ lease: second.lease, token: first.token })).status).toBe(409);
  expect((await fail(second)).status).toBe(200);
});

it("creates no object for reports on unknown leases", async () => {
  const jobs = async (): Promise<number> => (await listDurableObjectIds(env.JOB)).length;
  const { token: ofOther } = await leased("inspect");
  const before = await jobs();
  const stranger = newJobId((count) => crypto.getRandomValues(new Uint8Array(count)));
  for (const token of ["t", "A".repeat(28), `${"A".repeat(28)}${"0".repeat(16)}`, ofOther]) {
    for (const verb of verbs) {
      const body = { token, ...BODIES[verb]?.[0] };
      const path = `/v2/nodes/leases/${stranger}.inspect.1/${verb}`;
      expect((await send(path, { method: "POST", body, headers: node })).status).toBe(409);
    }
  }
  expect(await jobs()).toBe(before);
});

it("rejects reports beyond the size limit", async () => {
  for (const verb of verbs) {
    const raw = `{"token":"${"x".repeat(2 ** 20)}"}`;
    const path = `/v2/nodes/leases/AAAAAAAAAAAAAA.encode.1/${verb}`;
    const response = await send(path, { method: "POST", raw, headers: node });
    expect([verb, response.status, response.body.error_code]).toEqual([verb, 413, "body_too_large"]);
  }
});
