import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { failure, startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

it("uploads nothing when the service rejects the request", async () => {
  const file = join(folder, "video.mov");
  writeFileSync(file, "x");
  const service = await startFakeService({ "POST /v2/jobs": failure(400, "output_format_not_valid") });
  const env = { ...bareEnvironment(folder), COPRA_URL: service.url, COPRA_API_KEY: "k-test" };
  const ended = await runCli(["encode", file, "--to", "mp4:72Op"], env);
  await service.close();
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining("output_format_not_valid") });
  expect(service.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /v2/jobs?dry_run=true"]);
});
