import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COCONUT_V2_JOB, ZENCODER_JOB } from "#shared/convert/testing/examples.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { bareEnvironment, runCli, runProcess } from "../testing/run-cli.ts";

const folder = fileFolder();
const env = bareEnvironment(folder);
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

it("prints the request and reports missing fields", async () => {
  const job = file("zencoder.json", JSON.stringify(ZENCODER_JOB));
  const { code, stdout, stderr } = await runCli(["convert", job], env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ storage: { bucket: "out-bucket" } });
  expect(stderr).toContain("Converted from Zencoder");
  expect(stderr).toMatch(/To fill in:\n {2}storage\.region: .*\nNot carried over:\n/);
});

it("reads standard input, and prints request and notes as JSON", async () => {
  const { stdout } = await runProcess(["convert", "-", "--json"], env, JSON.stringify(COCONUT_V2_JOB));
  expect(JSON.parse(stdout)).toMatchObject({
    service: "coconut",
    request: { input: { url: "https://example.com/a.mov" } },
    notes: expect.arrayContaining([expect.objectContaining({ level: "todo", field: "storage.region" })]),
  });
});

it("prints no color codes and no reversed text of the file", async () => {
  const job = file("hostile.json", JSON.stringify({ ...ZENCODER_JOB, "\u001b[31mred\u202e": 1 }));
  const { stderr } = await runCli(["convert", job], { ...env, FORCE_COLOR: "1" });
  expect(stderr).toContain("\ufffd[31mred\ufffd");
  for (const hostile of ["\u001b[31mred", "\u202e"]) expect(stderr).not.toContain(hostile);
});

it.each([
  ["what is no request", "{}", [], /no service that can be converted/],
  ["another text", "hello", ["--from", "mediaconvert"], /is a JSON object/],
  ["another service", "{}", ["--from", "elsewhere"], /Allowed choices are coconut/],
])("rejects %s", async (_, content, options, message) => {
  const { code, stderr } = await runCli(["convert", file("job.json", content), ...options], env);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

it("names a missing file", async () => {
  const { code, stderr } = await runCli(["convert", join(folder, "none.json")], env);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/There is no file .*none\.json$/m)]);
});
