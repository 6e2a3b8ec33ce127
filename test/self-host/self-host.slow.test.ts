import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { AwsClient } from "aws4fetch";
import { afterEach, expect, it } from "vitest";
import { storageOf } from "../../local/demo/demo-job.ts";
import { findFree } from "../../local/stack/ports.ts";
import { emptiedFolder } from "../fixtures.ts";
import { makeLongClip } from "../media.ts";
import { copra, type Served, serve } from "./served.ts";

const folder = emptiedFolder();
let running: Served | null = null;
afterEach(async () => {
  await running?.stop();
  running = null;
});

/** Puts a clip into the service's own bucket; returns its URL. */
async function store({ stack: { s3 } }: Served, name: string, file: string): Promise<string> {
  const url = `${s3.endpoint}/${s3.bucket}/${name}`;
  const client = new AwsClient({ ...s3, service: "s3" });
  const { ok } = await client.fetch(url, { method: "PUT", body: readFileSync(file) });
  expect(ok).toBe(true);
  return url;
}

/** The environment of a process, as other programs of this user see it. */
const environmentOf = (pid: number): string => readFileSync(`/proc/${pid}/environ`, "utf8");

it("loses nothing when it is killed, and restarts from a backup that was made while jobs ran", async () => {
  const home = join(folder, "data");
  const ports = ["--port", String(await findFree()), "--s3-port", String(await findFree())];
  const env = { METRICS_TOKEN: "metrics-token-of-at-least-32-characters" };
  running = await serve({ home, argv: ports, env });
  const { stack } = running;
  const common = { storage: storageOf(stack), notification: { type: "http", url: `${stack.s3.endpoint}/hook` } };
  const clip = await store(running, "clip.mp4", await makeLongClip(folder, 20, "640x360"));
  const outputs = (name: string) => ({ "mp4:360p": { path: `${name}.mp4` } });

  // The service's own storage is at the loopback interface. Requests may reach nothing else there.
  await expect(
    running.submit({ input: { url: "http://127.0.0.1:9/a.mp4" }, ...common, outputs: outputs("a") }),
  ).rejects.toThrow("which is not a public address");
  expect(statSync(home).mode & 0o777).toBe(0o700);
  for (const secret of [stack.apiKey, stack.adminToken, stack.nodeToken, stack.s3.secretAccessKey]) {
    expect(running.output()).not.toContain(secret);
  }
  if (process.platform === "linux") {
    for (const pid of [stack.pids.s3, ...stack.pids.nodes]) expect(environmentOf(pid)).not.toContain(env.METRICS_TOKEN);
  }
  expect(
    (await fetch(`${new URL(stack.api).origin}/metrics`, { headers: { authorization: `Bearer ${env.METRICS_TOKEN}` } }))
      .status,
  ).toBe(200);

  const jobs = [];
  for (const name of ["first", "second"]) {
    jobs.push(await running.submit({ input: { url: clip }, ...common, outputs: outputs(name) }));
  }
  const [first, second] = jobs.map(({ id }) => id) as [string, string];
  const progress = async (): Promise<number> => Number.parseInt((await (running as Served).job(first)).progress, 10);
  await expect.poll(progress).toBeGreaterThan(10);
  const backup = join(folder, "copra.tar.gz");
  expect(await copra("backup", home, "-o", backup)).toMatch(/The service stood still for \d+ ms/);
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(readdirSync(home).filter((name) => name.startsWith(".backup"))).toEqual([]);
  expect((await fetch(`${stack.api}/health/ready`)).status).toBe(200);

  await running.kill();
  running = await serve({ home, argv: ports });
  expect(running.stack.apiKey).toBe(stack.apiKey);
  for (const id of [first, second]) expect(await running.ended(id)).toMatchObject({ status: "job.completed" });
  expect(await running.stop()).toBe(0);

  await expect(copra("restore", backup, home)).rejects.toThrow("--replace moves it aside");
  const restored = join(folder, "restored");
  await copra("restore", backup, restored);
  running = await serve({ home: restored, argv: ports });
  for (const id of [first, second]) expect(await running.ended(id)).toMatchObject({ status: "job.completed" });
  const [output] = (await running.job(second)).outputs;
  expect((await fetch(output?.url ?? "", { method: "HEAD" })).status).toBe(200);
});
