import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { type Request, startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();
const REFUSED = { error: { error_code: "input_url_not_valid", message: "input.url must be a URL" } };

it("creates the jobs of a file in requests of 500, and prints the id or the error of each", async () => {
  const service = await startFakeService({
    "POST /v2/jobs/batch": ({ body, path }: Request, response) => {
      const { jobs } = JSON.parse(body) as { jobs: { n: number }[] };
      const results = jobs.map(({ n }) =>
        n === 501 ? REFUSED : path.includes("dry_run") ? { valid: true } : { id: `j${n}` },
      );
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jobs: results }));
    },
  });
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };
  const file = join(folder, "jobs.json");
  const run = (...options: string[]) => runCli(["batch", file, ...options], env);
  const bodyOf = (at: number): Record<string, unknown> => JSON.parse(service.requests[at]?.body ?? "");

  writeFileSync(file, JSON.stringify(Array.from({ length: 502 }, (_, n) => ({ n }))));
  const mixed = await run("--template", "web", "--idempotency-key", "k");
  expect(mixed).toMatchObject({ code: 1, stderr: "501 of 502 jobs are created\n" });
  expect(mixed.stdout.split("\n").slice(499)).toEqual(["j499", "j500", "error: input.url must be a URL", ""]);
  expect(service.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(["k-0", "k-500"]);
  expect(bodyOf(1)).toEqual({ template: "web", jobs: [{ n: 500 }, { n: 501 }] });

  writeFileSync(file, JSON.stringify({ template: "web", defaults: { vars: { id: "1" } }, jobs: [{ n: 1 }] }));
  expect(await run("--dry-run", "--json")).toMatchObject({ code: 0, stdout: '{"valid":true}\n' });
  expect(bodyOf(2)).toEqual({ template: "web", defaults: { vars: { id: "1" } }, jobs: [{ n: 1 }] });

  for (const text of ["[]", "{}", "7", "[1]"]) {
    writeFileSync(file, text);
    const { code, stderr } = await run();
    expect({ code, stderr }, text).toEqual({
      code: 2,
      stderr: `${file} must be a list of jobs, or an object with jobs\n`,
    });
  }
  expect(service.requests).toHaveLength(3);
  await service.close();
});
