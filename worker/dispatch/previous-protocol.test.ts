// Nodes of the previous release: a real run's frames, with the leases of this test.
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import { decodeNodeFrame, PREVIOUS_PROTOCOL_VERSION, PROTOCOL_VERSION } from "#shared/protocol/frames.ts";
import { hubOf } from "../rpc/hub.ts";
import { jobOf } from "../rpc/job.ts";
import { bearer, newNodeToken, PROBE, send } from "../testing/jobs.ts";
import { NODE_FRAMES_2 } from "../testing/node-frames-2.ts";
import { connect, newJob, useNodes } from "../testing/nodes.ts";

useNodes();

const typeOf = (text: string): string => JSON.parse(text).type;
const [HELLO = "", ...AFTER] = NODE_FRAMES_2;

/** The recorded frames of a type, with this lease and token instead of the recorded ones. */
function replayed(type: string, { lease, token }: { lease: string; token: string }): string[] {
  const recorded = AFTER.filter((text) => typeOf(text) === type);
  return recorded.map((text) =>
    text.replace(/[A-Za-z0-9]{14}\.(inspect|encode)\.1/g, lease).replace(/"token":"\w+"/g, `"token":"${token}"`),
  );
}

it("every recorded frame of the previous release is valid", () => {
  for (const text of NODE_FRAMES_2)
    expect([text, decodeNodeFrame(text)]).toEqual([text, expect.objectContaining({ ok: true })]);
});

it("a node of the previous release gets work, reports progress, and stops, as it did then", async () => {
  const token = await newNodeToken();
  const node = await connect(token);
  node.say(HELLO);
  const welcome = await node.next("welcome");
  expect(welcome.protocol).toBe(PREVIOUS_PROTOCOL_VERSION);
  const spec = await newJob();
  const { assignment } = await node.next("assign");
  expect(assignment).toMatchObject({ jobId: spec.id, task: { kind: "inspect" } });
  for (const text of replayed("progress", assignment)) node.say(text);
  for (const text of replayed("slow", assignment)) node.say(text);
  const body = { token: assignment.token, result: { kind: "inspect", probe: PROBE } };
  const path = `/v2/nodes/leases/${assignment.lease}/complete`;
  expect((await send(path, { method: "POST", body, headers: bearer(token) })).status).toBe(200);
  for (const text of replayed("slots", assignment)) node.say(text);
  expect((await node.next("assign")).assignment).toMatchObject({ jobId: spec.id, task: { kind: "encode" } });
  expect(await jobOf(env, spec.id).view()).toMatchObject({ value: { input: { status: "input.transferred" } } });
  // Frames that it does not know it would only log, but it needs none of them.
  expect(node.frames.filter(({ type }) => type === "session" || type === "pace")).toEqual([]);
  for (const text of replayed("bye", assignment)) node.say(text);
  await vi.waitFor(async () => expect(await hubOf(env).capacity()).toBe(0));
});

it.each([
  [PROTOCOL_VERSION + 1, `protocol ${PROTOCOL_VERSION} is required`],
  [PREVIOUS_PROTOCOL_VERSION - 1, `protocol ${PROTOCOL_VERSION} is required`],
])("a node of protocol %i is rejected with the version that the hub requires", async (protocol, reason) => {
  const node = await connect();
  node.say({ ...JSON.parse(HELLO), protocol });
  expect(await node.reason).toContain(reason);
});
