import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import type { JobId } from "#shared/ids.ts";
import { parseStorage } from "#shared/request/storage/storage-section.ts";
import { openStore } from "./open-store.ts";
import { resolveStorage } from "./resolve-storage.ts";

const id = "AAAAAAAAAAAAAA" as JobId;
const video = {
  objectName: "v/a ü.mp4",
  contentType: "video/mp4",
  cacheControl: "public, max-age=60",
  sizeBytes: 2 ** 40,
  output: { key: "mp4:720p", type: "video" },
} as const;
const ofJob = { name: "job_id", value: id };
const fields = [
  ofJob,
  { name: "output_key", value: "mp4:720p" },
  { name: "output_type", value: "video" },
  { name: "video_id", value: "mp4:720p" },
  { name: "encoded_video_id", value: "mp4:720p" },
];
const form = { name: "encoded_video", fileName: "a ü.mp4", contentType: "video/mp4", fields };
const path = "/in/v/a%20%C3%BC.mp4";

it.each([
  ["https://up.example.com/in/", `https://up.example.com${path}`, {}],
  ["https://up.example.com/in?id=7", `https://up.example.com${path}?id=7`, {}],
  [
    "https://us%C3%A9r:p%40ss@up.example.com/in",
    `https://up.example.com${path}`,
    { authorization: "Basic dXPDqXI6cEBzcw==" },
  ],
  ["https://token@up.example.com/in", `https://up.example.com${path}`, { authorization: "Basic dG9rZW46" }],
])("uploads a file of any size in a single form to %s", async (url, posted, headers) => {
  const parsed = parseStorage({ url }, "none");
  if (!parsed.ok) throw new Error(parsed.error.message);
  const { keys } = parsed.value;
  const storage = await resolveStorage(parsed.value.storage, {
    env,
    origin: "https://copra.test",
    keys,
    account: { id: "a" },
  });
  expect(JSON.stringify(storage)).not.toMatch(/p%40ss|p@ss|token/);
  const store = openStore({ id, storage }, keys, env);
  expect(await store.begin(video)).toBeNull();
  expect(store.partSizes(video.sizeBytes)).toEqual([video.sizeBytes]);
  expect(await store.sign(video, null)).toEqual([
    { url: posted, headers, offset: 0, sizeBytes: video.sizeBytes, form },
  ]);
});

it.each(["image", "httpstream"] as const)("sends no `video_id` with a file of an output of type %s", async (type) => {
  const store = openStore({ id, storage: { kind: "http", url: "https://up.example.com/in" } }, null, env);
  const [part] = await store.sign({ ...video, output: { key: "mine", type } }, null);
  expect(part?.form?.fields).toEqual([
    ofJob,
    { name: "output_key", value: "mine" },
    { name: "output_type", value: type },
  ]);
});
