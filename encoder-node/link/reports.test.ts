import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { createLogger } from "#shared/log.ts";
import { controlPlaneAt } from "./control-plane.ts";
import { openReports, type Report } from "./reports.ts";

const log = createLogger({ write: () => undefined, now: Date.now, level: "error" });
const LEASE = "AAAAAAAAAAAAAA.encode.1" as LeaseId;
const REPORT = {
  lease: LEASE,
  verb: "fail",
  body: { token: "t", failure: { code: "node_failed", message: "m" } },
} as const satisfies Report;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "copra-reports-"));
});
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
  await rm(folder, { recursive: true, force: true });
});

/** What stands before the control plane and answers in its place. */
const elsewhere = (status: number) => ({ status, body: "<html>Please log in</html>" });
type Answer = number | ReturnType<typeof elsewhere>;

/** A control plane that answers these in turn, a status or one with a body, the last for ever; 0 cuts the connection. */
async function controlPlane(...answers: Answer[]) {
  const taken: { path: string; authorization: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    taken.push({ path: request.url ?? "", authorization: request.headers.authorization, body });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    const { status, body: said } = typeof answer === "object" ? answer : { status: answer, body: '{"error_code":"e"}' };
    if (status) response.writeHead(status).end(said);
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { at: controlPlaneAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "secret"), taken };
}

describe("reports", () => {
  it("are sent until the control plane takes them", async () => {
    const { at, taken } = await controlPlane(0, 503, 500, 200);
    await openReports(folder, at, log).send(REPORT);
    expect(taken).toHaveLength(4);
    expect(taken[3]).toEqual({
      path: `/v2/nodes/leases/${LEASE}/fail`,
      authorization: "Bearer secret",
      body: JSON.stringify(REPORT.body),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([200, 400, 404, 409, 413])("outlive somebody else's answer %i", async (status) => {
    const { at, taken } = await controlPlane(elsewhere(status), 200);
    await openReports(folder, at, log).send(REPORT);
    expect(taken).toHaveLength(2);
  });

  it.each([409, 404, 400])("are forgotten when the answer is %i", async (status) => {
    const { at, taken } = await controlPlane(status);
    await openReports(folder, at, log).send(REPORT);
    expect(taken).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it("of a result that is refused are followed by one that says so", async () => {
    const { at, taken } = await controlPlane(413, 200);
    const result = {
      kind: "encode",
      outputs: [{ status: "failed", output: 0, failure: REPORT.body.failure }],
    } as const;
    await openReports(folder, at, log).send({
      lease: LEASE,
      verb: "complete",
      body: { token: "t", result: { ...result, outputs: [...result.outputs] } },
    });
    expect(taken.map(({ path }) => path.split("/").at(-1))).toEqual(["complete", "fail"]);
    expect(JSON.parse(taken[1]?.body ?? "")).toMatchObject({ token: "t", failure: { code: "node_failed" } });
    expect(await readdir(folder)).toEqual([]);
  });

  it("are delivered although they cannot be written to disk", async () => {
    const { at, taken } = await controlPlane(200);
    const blocked = join(folder, "file");
    await writeFile(blocked, "");
    await openReports(join(blocked, "spool"), at, log).send(REPORT);
    expect(taken).toHaveLength(1);
  });

  it("that are broken on disk are removed, and keep no other back", async () => {
    const { at, taken } = await controlPlane(200);
    const spooled = JSON.stringify(REPORT);
    const files = {
      empty: "",
      cut: spooled.slice(0, 40),
      foreign: '{"lease":"x"}',
      bare: `{"lease":"${LEASE}","verb":"fail"}`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.json`), text);
    await writeFile(join(folder, `${LEASE}.json`), spooled);
    await writeFile(join(folder, `${LEASE}.json.part`), "half");
    await openReports(folder, at, log).resume();
    expect(taken.map(({ body }) => body)).toEqual([JSON.stringify(REPORT.body)]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("lie on disk until then, and are sent by the node's next process", async () => {
    const dead = controlPlaneAt("http://127.0.0.1:9", "secret");
    void openReports(folder, dead, log).send(REPORT);
    await vi.waitFor(async () => expect(await readdir(folder)).toEqual([`${LEASE}.json`]));
    const { at, taken } = await controlPlane(200);
    await openReports(folder, at, log).resume();
    expect(taken.map(({ body }) => body)).toEqual([JSON.stringify(REPORT.body)]);
    expect(await readdir(folder)).toEqual([]);
  });
});
