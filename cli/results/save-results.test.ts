import { readdirSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { failure, startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";

const folder = fileFolder();

it("saves results in the storage's folders if the service no longer has the job's request", async () => {
  const file = (text: string) => (_: unknown, response: ServerResponse) => response.end(text);
  const sizes = ["240p", "480p"];
  const media = sizes.flatMap((size) => [
    [`GET /b/v/${size}.m3u8`, file(`#EXTM3U\n${size}/1.ts\n`)] as const,
    [`GET /b/v/${size}/1.ts`, file(size)] as const,
  ]);
  const answers: Parameters<typeof startFakeService>[0] = {
    ...Object.fromEntries(media),
    "GET /b/v/master.m3u8": file("#EXTM3U\n240p.m3u8\n480p.m3u8\n"),
    "GET /v2/jobs/old": (_, response) => response.end(JSON.stringify(job())),
    "GET /v2/jobs/old/events": (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: end\ndata: ${JSON.stringify(job())}\n\n`);
    },
    "GET /v2/jobs/old/request": failure(409, "job_state_conflict"),
  };
  const other = await startFakeService(answers);
  const job = () => ({
    id: "old",
    created_at: "2026-11-21 05:23:27 +0000",
    completed_at: "2026-11-21 05:23:33 +0000",
    status: "job.completed",
    progress: "100%",
    input: { status: "input.transferred" },
    outputs: [
      {
        key: "hls",
        type: "httpstream",
        format: "hls",
        status: "httpstream.packaged",
        url: `${other.url}/b/v/master.m3u8`,
      },
    ],
  });
  const out = join(folder, "old");
  const ended = await runCli(["jobs", "follow", "old", "-o", out], {
    ...bareEnvironment(folder),
    COPRA_URL: other.url,
    COPRA_API_KEY: "k-test",
  });
  await other.close();
  expect(ended).toMatchObject({ code: 0 });
  expect(readdirSync(out, { recursive: true }).toSorted()).toEqual(
    ["240p", "240p.m3u8", "240p/1.ts", "480p", "480p.m3u8", "480p/1.ts", "master.m3u8"].map((path) =>
      join(...path.split("/")),
    ),
  );
});
