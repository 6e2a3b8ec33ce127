import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import type { JobId } from "#shared/ids.ts";
import type { ScratchSettings } from "../../settings.ts";
import { settingsOf } from "../../settings.ts";
import { openScratch } from "./scratch.ts";

const { endpoint, accessKeyId, secretAccessKey } = inject("s3");
const SETTINGS: ScratchSettings = {
  bucket: { endpoint, region: "us-east-1", bucket: "copra-scratch", addressing: "path" },
  keys: { accessKeyId, secretAccessKey },
  readOrigin: false,
};
const JOB = "AAAAAAAAAAAAAA" as JobId;
const store = (folder: number, changes: Partial<ScratchSettings> = {}) =>
  openScratch({ ...SETTINGS, ...changes }, JOB, folder);

const write = async (to: ReturnType<typeof store>, name: string): Promise<number> => {
  const { url, headers } = await to.put(name, 4);
  return (await fetch(url, { method: "PUT", headers, body: "abcd" })).status;
};
const read = async (from: ReturnType<typeof store>, name: string): Promise<[number, string]> => {
  const answer = await fetch(await from.get(name), { headers: { range: "bytes=1-2" } });
  return [answer.status, await answer.text()];
};

describe("a job's scratch folder", () => {
  it("can be written and read only with signed requests", async () => {
    const folder = store(0);
    expect(await write(folder, "chunk-1-1/0-720p.mp4")).toBe(200);
    expect(await read(folder, "chunk-1-1/0-720p.mp4")).toEqual([206, "bc"]);
    const { origin, pathname, search } = new URL(await folder.get("chunk-1-1/0-720p.mp4"));
    expect(pathname).toBe(`/copra-scratch/copra-scratch/${JOB}/0/chunk-1-1/0-720p.mp4`);
    expect((await fetch(origin + pathname)).status).toBe(403);
    expect((await fetch(origin + pathname.replace("720p", "480p") + search)).status).toBe(403);
    expect((await fetch(origin + pathname + search, { method: "PUT", body: "x" })).status).toBe(403);
  });

  it("is removed with all its objects, and without objects of other folders", async () => {
    const [full, other] = [store(2), store(20)];
    const names = Array.from({ length: 230 }, (_, n) => `chunk-${n}-1/0-720p.mp4`);
    expect(new Set(await Promise.all(names.map((name) => write(full, name))))).toEqual(new Set([200]));
    await write(other, "chunk-0-1/0-720p.mp4");
    await full.clear();
    await full.clear();
    const left = await Promise.all(names.map(async (name) => (await read(full, name))[0]));
    expect(new Set(left)).toEqual(new Set([404]));
    expect((await read(other, "chunk-0-1/0-720p.mp4"))[0]).toBe(206);
  });

  it("reports the reason when it cannot be removed", async () => {
    const wrong = store(3, { keys: { accessKeyId, secretAccessKey: "wrong" } });
    await expect(wrong.clear()).rejects.toMatchObject({ code: "storage_denied" });
  });
});

describe("the settings of the scratch bucket", () => {
  const BARE = { ...env, SCRATCH_ENDPOINT: undefined, SCRATCH_REGION: undefined, SCRATCH_BUCKET: undefined };
  const NONE = { ...BARE, SCRATCH_ACCESS_KEY_ID: undefined, SCRATCH_SECRET_ACCESS_KEY: undefined };
  const ALL = {
    SCRATCH_ENDPOINT: "https://s3.example.com/",
    SCRATCH_REGION: "auto",
    SCRATCH_BUCKET: "b",
    SCRATCH_ACCESS_KEY_ID: "id",
    SCRATCH_SECRET_ACCESS_KEY: "secret",
  };
  const settings = (changes: object) => settingsOf({ ...NONE, ...changes } as never).scratch;

  it("accepts complete settings or none", () => {
    expect(settings({})).toBeNull();
    expect(settings(ALL)).toEqual({
      bucket: { endpoint: "https://s3.example.com", region: "auto", bucket: "b", addressing: "path" },
      keys: { accessKeyId: "id", secretAccessKey: "secret" },
      readOrigin: false,
    });
  });

  it.each<[object, RegExp]>([
    [{ SCRATCH_BUCKET: undefined, SCRATCH_REGION: " " }, /SCRATCH_REGION/],
    [{ SCRATCH_BUCKET: undefined }, /also needs SCRATCH_BUCKET/],
    [{ SCRATCH_ENDPOINT: "s3.example.com" }, /SCRATCH_ENDPOINT/],
    [{ ULTRAFAST_READ_ORIGIN: "yes" }, /ULTRAFAST_READ_ORIGIN/],
  ])("names the setting that is not valid: %j", (changes, words) => {
    expect(() => settings({ ...ALL, ...changes })).toThrow(words);
  });
});
