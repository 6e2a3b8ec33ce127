import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LeaseId } from "#shared/ids.ts";
import { emptiedFolder } from "../../test/fixtures.ts";
import { silentLog } from "../testing/silent-log.ts";
import { controlPlaneAt } from "./control-plane.ts";
import { openReports, type Report } from "./reports.ts";

const LEASE = "AAAAAAAAAAAAAA.encode.1" as LeaseId;
const REPORT = {
  lease: LEASE,
  verb: "fail",
  body: { token: "t", failure: { code: "node_failed", message: "m" } },
} as const satisfies Report;

const folder = emptiedFolder();
const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanUp.splice(0)) await end();
});

/** A response of a gateway in front of the control plane. */
const fromGateway = (status: number) => ({ status, body: "<html>Please log in</html>", headers: {} });
const fromCloudflare = {
  status: 403,
  body: "<h1>Error 1010</h1>",
  headers: { server: "cloudflare", "content-type": "text/html" },
};
type Answer = number | { status: number; body: string; headers: Record<string, string> };

/**
 * A control plane that responds with these answers in turn and repeats the last answer: a status, or a status with a
 * body. 0 breaks the connection.
 */
async function controlPlane(...answers: Answer[]) {
  const received: { path: string; authorization: string | undefined; userAgent: string | undefined; body: string }[] =
    [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { authorization, "user-agent": userAgent } = request.headers;
    received.push({ path: request.url ?? "", authorization, userAgent, body });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    const ownAnswer = { body: '{"error_code":"e"}', headers: {} };
    const { status, body: text, headers } = typeof answer === "object" ? answer : { status: answer, ...ownAnswer };
    if (status) response.writeHead(status, headers).end(text);
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { at: controlPlaneAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, "secret"), received };
}

describe("reports", () => {
  it("reports are sent until the control plane accepts them", async () => {
    const { at, received } = await controlPlane(0, 503, 500, 200);
    await openReports(folder, at, silentLog).send(REPORT);
    expect(received).toHaveLength(4);
    expect(received[3]).toEqual({
      path: `/v2/nodes/leases/${LEASE}/fail`,
      authorization: "Bearer secret",
      userAgent: expect.stringMatching(/^copra-node\/\d/),
      body: JSON.stringify(REPORT.body),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([200, 400, 404, 409, 413])("reports are retried after a gateway's HTTP %i", async (status) => {
    const { at, received } = await controlPlane(fromGateway(status), 200);
    await openReports(folder, at, silentLog).send(REPORT);
    expect(received).toHaveLength(2);
  });

  it.each([409, 404, 400])("reports are dropped when the control plane responds with HTTP %i", async (status) => {
    const { at, received } = await controlPlane(status);
    await openReports(folder, at, silentLog).send(REPORT);
    expect(received).toHaveLength(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it("a failure report follows the report of a rejected result", async () => {
    const { at, received } = await controlPlane(413, 200);
    const result = { kind: "encode", outputs: [{ status: "failed", output: 0, ...REPORT.body }] } as const;
    await openReports(folder, at, silentLog).send({
      lease: LEASE,
      verb: "complete",
      body: { token: "t", result: { ...result, outputs: [...result.outputs] } },
    });
    expect(received.map(({ path }) => path.split("/").at(-1))).toEqual(["complete", "fail"]);
    expect(JSON.parse(received[1]?.body ?? "")).toMatchObject({ token: "t", failure: { code: "node_failed" } });
    expect(await readdir(folder)).toEqual([]);
  });

  it("reports log advice for the operator when Cloudflare refuses them", async () => {
    const { at } = await controlPlane(fromCloudflare);
    expect(await at.post(LEASE, "fail", REPORT.body)).toEqual({
      kind: "unreachable",
      message: expect.stringMatching(
        /^Cloudflare refused .* skip Browser Integrity Check .* switch off Bot Fight Mode/,
      ),
    });
  });

  it("reports are delivered even if they cannot be spooled", async () => {
    const { at, received } = await controlPlane(200);
    const blocked = join(folder, "file");
    await writeFile(blocked, "");
    await openReports(join(blocked, "spool"), at, silentLog).send(REPORT);
    expect(received).toHaveLength(1);
  });

  it("reports that are invalid on disk are removed and delay no other report", async () => {
    const { at, received } = await controlPlane(200);
    const spooled = JSON.stringify(REPORT);
    const files = {
      empty: "",
      truncated: spooled.slice(0, 40),
      foreign: '{"lease":"x"}',
      bare: `{"lease":"${LEASE}","verb":"fail"}`,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.json`), text);
    await writeFile(join(folder, `${LEASE}.json`), spooled);
    await writeFile(join(folder, `${LEASE}.json.part`), "half");
    await openReports(folder, at, silentLog).resume();
    expect(received.map(({ body }) => body)).toEqual([JSON.stringify(REPORT.body)]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("undelivered reports stay on disk, and the node's next process sends them", async () => {
    const dead = controlPlaneAt("http://127.0.0.1:9", "secret");
    void openReports(folder, dead, silentLog).send(REPORT);
    await vi.waitFor(async () => expect(await readdir(folder)).toEqual([`${LEASE}.json`]));
    const { at, received } = await controlPlane(200);
    await openReports(folder, at, silentLog).resume();
    expect(received.map(({ body }) => body)).toEqual([JSON.stringify(REPORT.body)]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("reports of outputs that end together are all on disk, and the node's next process sends all of them", async () => {
    const dead = openReports(folder, controlPlaneAt("http://127.0.0.1:9", "secret"), silentLog);
    const outputs = [0, 1, 2].map((output) => ({ status: "failed" as const, output, failure: REPORT.body.failure }));
    for (const output of outputs)
      void dead.send({ lease: LEASE, verb: "outputs", body: { token: "t", outputs: [output] } });
    await vi.waitFor(async () =>
      expect((await readdir(folder)).filter((name) => name.endsWith(".json"))).toHaveLength(outputs.length),
    );
    const { at, received } = await controlPlane(200);
    await openReports(folder, at, silentLog).resume([{ lease: LEASE, token: "t" }]);
    const sent = received.map(({ body }) => JSON.parse(body));
    expect(sent.slice(0, -1).flatMap((body) => body.outputs)).toEqual(expect.arrayContaining(outputs));
    expect(sent.at(-1)).toMatchObject({ hasCrashed: true });
    expect(await readdir(folder)).toEqual([]);
  });

  it("after the reports of an earlier process, each of its leases without an end is reported", async () => {
    const proofs = ["outputs", "complete", "nothing"].map((task) => ({
      lease: `AAAAAAAAAAAAAA.${task}.1` as LeaseId,
      token: task,
    }));
    const [outputs, complete] = proofs.map(({ lease }) => lease);
    const failed = { status: "failed", output: 0, failure: REPORT.body.failure };
    const spooled = [
      { lease: outputs, verb: "outputs", body: { token: "outputs", outputs: [failed] } },
      { lease: complete, verb: "complete", body: { token: "complete", result: { kind: "encode", outputs: [failed] } } },
      { lease: "AAAAAAAAAAAAAA.nothing.10", verb: "fail", body: { token: "later", failure: failed.failure } },
    ];
    for (const report of spooled) await writeFile(join(folder, `${report.lease}.json`), JSON.stringify(report));
    const { at, received } = await controlPlane(200);
    const ended: string[] = [];
    await openReports(folder, at, silentLog).resume(proofs, (lease) => ended.push(lease));
    const crashed = received.filter(({ body }) => JSON.parse(body).hasCrashed);
    expect(crashed.map(({ path }) => path.split(".")[1]).toSorted()).toEqual(["nothing", "outputs"]);
    expect(JSON.parse(crashed[0]?.body ?? "")).toMatchObject({ failure: { code: "node_lost" } });
    const paths = received.map(({ path }) => path.split(".")[1]);
    expect(paths.filter((task) => task === "complete")).toHaveLength(1);
    expect(received.findIndex(({ path }) => path.endsWith("outputs.1/outputs"))).toBeLessThan(
      received.findIndex(({ path }) => path.endsWith("outputs.1/fail")),
    );
    expect(ended.toSorted()).toEqual(proofs.map(({ lease }) => lease).toSorted());
  });
});
