// Files of audio tracks from an HTTP server.
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { makeClip, tested } from "../testing/plan-runs.ts";
import { closeServers, serve } from "../testing/range-server.ts";
import { fetchAudio } from "./fetch-extra.ts";

const folder = fileFolder();
let origin = "";
const requested: string[] = [];
beforeAll(async () => {
  await makeClip(folder, "speech.wav", "-f lavfi -i sine=d=0.2:r=48000");
  await makeClip(folder, "silent.mp4", "-f lavfi -i color=s=64x36:d=0.2 -c:v libx264");
  ({ origin } = await serve(async (request, response) => {
    const name = (request.url ?? "").slice(1);
    requested.push(name);
    if (name === "large.wav") return void response.writeHead(200, { "content-length": "4000000001" }).end("x");
    if (name === "page.wav") return void response.end("<html>Not found</html>");
    const bytes = await readFile(join(folder, name)).catch(() => null);
    if (bytes) response.end(bytes);
    else response.writeHead(404).end();
  }));
});
afterAll(async () => {
  closeServers();
});

async function fetched(names: readonly string[], allowPrivate: "none" | "loopback" = "loopback") {
  const outputs = names.map((name, index) =>
    specOf({ format: "mp4", params: { audio: [{ url: `${origin}/${name}` }] } }, index),
  );
  const target = await mkdtemp(join(folder, "own-"));
  return fetchAudio(outputs, target, { ...tested, allowPrivate, signal: new AbortController().signal });
}

it("fetches each file once, and explains why a file cannot be used", async () => {
  const names = ["speech.wav", "silent.mp4", "page.wav", "large.wav", "none.wav"];
  const { files, failed } = await fetched([...names, "speech.wav"]);
  expect(requested.toSorted()).toEqual(names.toSorted());
  const url = `${origin}/speech.wav`;
  expect([...files]).toMatchObject([[url, { url, probe: { streams: [{ channels: 1 }] } }]]);
  const of = (output: number, reason: string) => ({
    output,
    failure: {
      code: "input_track_not_found",
      message: `The audio track from the host \`${new URL(origin).host}\` cannot be used: ${reason}.`,
    },
  });
  expect(failed).toEqual([
    of(1, "it is not a file with audio"),
    of(2, "it is not a file with audio"),
    of(3, "it is larger than 4000 MB"),
    of(4, "the host responded with HTTP 404"),
  ]);
});

it("fetches nothing from private addresses", async () => {
  const count = requested.length;
  const { failed } = await fetched(["speech.wav"], "none");
  expect(failed).toMatchObject([{ failure: { message: expect.stringContaining("the address is not public") } }]);
  expect(requested.length).toBe(count);
});
