// `input.headers`: sealed, sent to nodes, and in no response.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { jobOf } from "../../rpc/job.ts";
import type { ClaimRequest } from "../../rpc/turn.ts";
import { basic, jobBody, newAccount, PROBE, send } from "../../testing/jobs.ts";
import { claimFrom } from "../../testing/turns.ts";

const SECRET = "sesame-open-9";
const INPUT = { url: "https://media.example.com/video.mp4", headers: { "X-Token": SECRET } };
const NODE = { nodeId: "node", session: "session", max: 9 };

let authorization: Record<string, string>;
beforeAll(async () => {
  authorization = basic((await newAccount()).key);
});

const post = (path: string, body: unknown) => send(path, { method: "POST", body, headers: authorization });
const claim = (id: string, request: Pick<ClaimRequest, "slotClass">) =>
  claimFrom(jobOf(env, id), { ...NODE, ...request });

describe.each([
  ["/v2/jobs", jobBody({ input: INPUT })],
  ["/v2/probes", { input: INPUT }],
])("headers of the source in a request to %s", (path, body) => {
  it("go to nodes", async () => {
    const { id } = (await post(path, body)).body;
    const [inspect] = await claim(id, { slotClass: "inspect" });
    expect(inspect?.task).toMatchObject({ sourceUrl: INPUT.url, sourceHeaders: { "x-token": SECRET } });
  });

  it("are stored sealed, and are in no response", async () => {
    const created = await post(path, body);
    expect([created.status >= 200 && created.status < 300, JSON.stringify(created.body)]).toEqual([
      true,
      expect.not.stringContaining(SECRET),
    ]);
    const { id } = created.body;
    const stored = await runInDurableObject(jobOf(env, id), (_, { storage }) => JSON.stringify([...storage.kv.list()]));
    expect(stored).not.toContain(SECRET);
    const viewed = await send(`${path}/${id}`, { headers: authorization });
    expect(JSON.stringify(viewed.body)).not.toContain(SECRET);
  });
});

it("encodes with the headers, and lists them among the fields that a request lacks", async () => {
  const { id } = (await post("/v2/jobs", jobBody({ input: INPUT }))).body;
  const [inspect] = await claim(id, { slotClass: "inspect" });
  if (!inspect) throw new Error("Nothing to inspect");
  await jobOf(env, id).complete(inspect.lease, { token: inspect.token, result: { kind: "inspect", probe: PROBE } });
  const encodes = await claim(id, { slotClass: "encode" });
  expect(encodes.map(({ task }) => "sourceHeaders" in task && task.sourceHeaders)).toEqual([{ "x-token": SECRET }]);
  const { body } = await send(`/v2/jobs/${id}/request`, { headers: authorization });
  const left_out = ["input.headers", "storage.credentials"];
  expect(body).toMatchObject({ request: { input: { url: INPUT.url } }, left_out });
  expect(JSON.stringify(body)).not.toMatch(/x-token|sesame/i);
});

it("rejects headers that are not valid, also in a dry run", async () => {
  const wrong = { ...INPUT, headers: { Host: SECRET } };
  for (const path of ["/v2/jobs", "/v2/jobs?dry_run=true", "/v2/probes"]) {
    const { status, body } = await post(path, jobBody({ input: wrong }));
    expect([path, status, JSON.stringify(body)]).toEqual([path, 400, expect.not.stringContaining(SECRET)]);
  }
  expect((await post("/v2/jobs?dry_run=true", jobBody({ input: INPUT }))).status).toBe(200);
});
