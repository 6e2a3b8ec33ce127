// copra mcp on the local system, with the client of the official SDK: an assistant makes a real video.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bareEnvironment, MAIN } from "../cli/testing/run-cli.ts";
import { CopraAdmin } from "../client/admin.ts";
import { Copra } from "../client/index.ts";
import { fileFolder, untilEnd } from "./fixtures.ts";
import { makeClip } from "./media.ts";
import { startSourceServer } from "./services/source-server.ts";
import { sharedStack } from "./stack.ts";

const stack = sharedStack();
const { origin } = new URL(stack.api);

const folder = fileFolder();
const sources = untilEnd(await startSourceServer(folder));
let job: Record<string, unknown>;
const clients: Client[] = [];

beforeAll(async () => {
  job = {
    input: { url: `${sources.urlOf(await makeClip("ntsc.mp4", folder))}?token=secret` },
    storage: stack.storage,
    outputs: { "mp4:240p": { path: "mcp/240p.mp4" } },
    notification: { type: "none" },
  };
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

type Answer = "accept" | "decline";

/** Starts `copra mcp`. With `answer`, the client can ask a person, who answers so; `asked` has the questions. */
async function connect({ key = stack.apiKey, answer }: { key?: string; answer?: Answer } = {}) {
  const questions: string[] = [];
  const client = new Client({ name: "test", version: "1" }, { capabilities: answer ? { elicitation: {} } : {} });
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return answer === "accept" ? { action: "accept", content: { confirm: true } } : { action: "decline" };
    });
  }
  const env = { ...bareEnvironment(folder), COPRA_URL: origin, COPRA_API_KEY: key };
  clients.push(client);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [MAIN, "mcp"], env, stderr: "ignore" }),
  );
  const call = async (name: string, args: Record<string, unknown>) => {
    const { content, isError = false } = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
    const [first] = content;
    const text = first?.type === "text" ? first.text : "";
    return { isError, text, value: isError ? null : JSON.parse(text) };
  };
  return { client, call, asked: questions };
}

it("lists its tools with their effects", async () => {
  const { client } = await connect();
  const { tools } = await client.listTools();
  const readers = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
  const expected = ["plan_job", "probe_source", "get_job", "wait_for_job", "list_jobs", "get_metadata", "search_docs"];
  expect(readers).toEqual(expected);
  const others = tools.map(({ name }) => name).filter((name) => !readers.includes(name));
  expect(others).toEqual(["create_job", "cancel_job", "retry_job"]);
});

it("makes a video after a person has confirmed the job, and reads all about it", async () => {
  const { call, asked: questions } = await connect({ answer: "accept" });
  expect((await call("plan_job", { job })).value.outputs).toMatchObject([{ key: "mp4:240p" }]);
  const { id } = (await call("create_job", { job })).value;
  const storage = { ...stack.storage, credentials: undefined };
  const lines = [
    "Create this job?",
    `input: ${JSON.stringify({ url: sources.urlOf("ntsc.mp4") })}`,
    `outputs: ${JSON.stringify(job.outputs)}`,
    `storage: ${JSON.stringify(storage)}`,
    'notification: {"type":"none"}',
  ];
  expect(questions).toEqual([lines.join("\n")]);
  expect((await call("wait_for_job", { id })).value.status).toBe("job.completed");
  expect((await call("get_job", { id })).value).toMatchObject({ id, status: "job.completed" });
  expect((await call("list_jobs", { status: "job.completed", query: id })).value.jobs).toMatchObject([{ id }]);
  const { metadata } = (await call("get_metadata", { id, key: "mp4:240p" })).value;
  expect(metadata["mp4:240p"].streams[0]).toMatchObject({ codec_name: "h264", height: 240 });
  expect(await call("cancel_job", { id })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/job_state_conflict/),
  });
  expect(await call("retry_job", { id })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/job_state_conflict/),
  });
  expect(questions.slice(1)).toEqual([`Cancel the job "${id}"?`, `Retry the job "${id}"?`]);
  const probe = await call("probe_source", { input: job.input });
  expect(questions[3]).toBe(`Read this source?\ninput: ${JSON.stringify({ url: sources.urlOf("ntsc.mp4") })}`);
  expect((await call("plan_job", { job, probe: probe.value.id })).isError).toBe(false);
});

describe("a job that nobody has confirmed", () => {
  const jobs = async (): Promise<number> => {
    const { jobs } = (await stack.request("GET", "/jobs?limit=100&q=mcp")).body as { jobs: unknown[] };
    return jobs.length;
  };

  it("is not created if the person declines", async () => {
    const before = await jobs();
    const { call, asked: questions } = await connect({ answer: "decline" });
    expect(await call("create_job", { job, confirm: true })).toMatchObject({
      isError: true,
      text: expect.stringMatching(/did not confirm/),
    });
    expect([questions.length, await jobs()]).toEqual([1, before]);
  });

  it("is created by a client that cannot ask only after a plan of the same job, with confirm", async () => {
    const { call } = await connect();
    expect((await call("create_job", { job, confirm: true })).text).toMatch(/^Call plan_job with exactly this job/);
    await call("plan_job", { job });
    expect((await call("create_job", { job })).text).toMatch(/^Ask the person for a confirmation/);
    const other = { ...job, outputs: { mp3: { path: "mcp/a.mp3" } } };
    expect((await call("create_job", { job: other, confirm: true })).text).toMatch(/^Call plan_job/);
    const reordered = Object.fromEntries(Object.entries(job).toReversed());
    const created = await call("create_job", { job: reordered, confirm: true });
    expect(created.isError).toBe(false);
    expect((await call("cancel_job", { id: created.value.id })).text).toMatch(/^Ask the person for a confirmation/);
    await stack.waitForJob(created.value.id);
  });
});

it("needs no confirmation with a key that only uses templates, and shows the service's errors", async () => {
  const copra = new Copra({ url: origin, key: stack.apiKey });
  const { account } = await copra.session();
  const admin = new CopraAdmin({ url: origin, token: stack.adminToken });
  const { api_key: key } = await admin.keys.create(account?.id ?? "", { scopes: ["templates:use"] });
  await copra.templates.put("mcp", job as Parameters<typeof copra.templates.put>[1]);
  const { call } = await connect({ key });
  const created = await call("create_job", { job: { template: "mcp" } });
  expect(created.value).toMatchObject({ template: expect.stringMatching(/^mcp@\d+$/) });
  expect((await stack.waitForJob(created.value.id)).status).toBe("job.completed");
  expect(await call("create_job", { job })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/scope_missing/),
  });
  expect(await call("get_job", { id: created.value.id })).toMatchObject({
    isError: true,
    text: expect.stringMatching(/`jobs:read`/),
  });
});

it("searches the documentation of the service", async () => {
  const { call } = await connect();
  const sections = (await call("search_docs", { query: "watermark position" })).value;
  expect(sections[0].text.toLowerCase()).toContain("watermark");
});
