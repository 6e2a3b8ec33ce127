// The local system runs the sweeper, which no runtime does by itself. A job that never started does not hang forever.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestStack, type TestStack } from "./stack.ts";

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ nodes: 0 });
});
afterAll(async () => {
  await stack?.stop();
});

/** A statement on the control plane's database, while no process has it open. */
function change(home: string, statement: string, ...values: string[]): void {
  const folder = join(home, "control-plane", "v3", "d1", "miniflare-D1DatabaseObject");
  const [file] = readdirSync(folder).filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite");
  const database = new DatabaseSync(join(folder, file ?? ""));
  database.prepare(statement).run(...values);
  database.close();
}

it("ends a job whose request died between its row and its start", async () => {
  const { id } = await stack.submit({
    input: { url: "http://127.0.0.1:9/video.mp4" },
    outputs: { "mp4:240p": { path: "a.mp4" } },
  });
  const { body: view } = await stack.request("GET", `/jobs/${id}`);
  const lost = "NeverBegun0001";
  const { home } = stack;
  stack = await stack.restart(() =>
    change(
      home,
      "INSERT INTO jobs (id, account_id, status, version, created_at, completed_at, view, check_at) SELECT ?, account_id, status, version, created_at, completed_at, ?, 1 FROM jobs WHERE id = ?",
      lost,
      JSON.stringify(view).replace(id, lost),
      id,
    ),
  );
  const job = await stack.waitForJob(lost);
  expect(job).toMatchObject({ id: lost, status: "job.failed", outputs: [{ error_code: "internal_error" }] });
  const { body: alive } = await stack.request("GET", `/jobs/${id}`);
  expect(alive).toMatchObject({ id, status: "job.starting" });
});
