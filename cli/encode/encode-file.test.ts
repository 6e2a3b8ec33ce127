import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { Copra } from "../../client/index.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { CommandError, EXIT } from "../exit.ts";
import { Output } from "../terminal/output.ts";
import { failure, startFakeService } from "../testing/fake-service.ts";
import { bareEnvironment, runCli } from "../testing/run-cli.ts";
import { sourceOf } from "./source.ts";
import { uploadFile } from "./upload.ts";
import { watchFolder } from "./watch.ts";

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

it("uses a complete upload again for the unchanged file and the same account, until it expires soon", async () => {
  const file = join(folder, "again.mov");
  writeFileSync(file, "x");
  const END = Date.parse("2027-01-01T00:00:00Z");
  const upload = { id: "u", size: 1, part_size: 4, parts: [], expires_at: new Date(END).toISOString() };
  const complete = { json: { ...upload, status: "completed" } };
  const { url, requests, close } = await startFakeService({
    "POST /v2/uploads": { json: { ...upload, status: "open" } },
    "GET /v2/uploads/u": complete,
    "PUT /v2/uploads/u/parts/1": { json: { number: 1, size: 1, etag: "e" } },
    "POST /v2/uploads/u/complete": complete,
  });
  const [env, { signal }] = [bareEnvironment(folder), new AbortController()];
  const isSent = async (key: string, hoursLeft: number): Promise<boolean> => {
    const target = { url, key, adminToken: null, source: "", local: null };
    const [before, source] = [requests.length, sourceOf(file, env)];
    if (source.kind !== "file") throw new Error("The source is a file");
    const callbacks = { now: () => END - hoursLeft * 3_600_000, onStart: () => undefined, onProgress: () => undefined };
    await uploadFile(source, { copra: new Copra({ url, key }), target, env, signal, ...callbacks });
    return requests.slice(before).some(({ path }) => path === "/v2/uploads");
  };
  expect([await isSent("a", 9), await isSent("a", 9), await isSent("b", 9)]).toEqual([true, false, true]);
  expect([await isSent("a", 3), await isSent("a", 1)]).toEqual([false, true]);
  utimesSync(file, 1, 1);
  expect(await isSent("a", 9)).toBe(true);
  await close();
});

it("encodes an unchanged file of a watched folder again only after a failure of the service", async () => {
  const [inbox, end] = [join(folder, "inbox"), new AbortController()];
  mkdirSync(inbox);
  for (const name of ["broken.mov", "late.mov"]) writeFileSync(join(inbox, name), "x");
  const sink = { write: () => true };
  const quiet = { stdout: sink, stderr: sink, env: {}, json: false, quiet: true, noColor: true };
  const context = { output: new Output(quiet), env: bareEnvironment(folder), signal: end.signal };
  const encoded: string[] = [];
  const watching = watchFolder(context, inbox, async (path) => {
    if (encoded.push(basename(path)) === 3) end.abort();
    return path.endsWith("late.mov") ? EXIT.service : EXIT.failed;
  });
  await expect(watching).rejects.toThrow();
  expect([encoded.slice(0, 2).toSorted(), encoded[2]]).toEqual([["broken.mov", "late.mov"], "late.mov"]);
  const refused = new CommandError(EXIT.notAllowed, "The API key is unknown");
  const again = { ...context, signal: new AbortController().signal };
  await expect(watchFolder(again, inbox, () => Promise.reject(refused))).rejects.toBe(refused);
});
