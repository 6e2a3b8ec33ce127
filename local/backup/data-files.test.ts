import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";
import { copyData } from "./data-files.ts";

const folder = emptiedFolder();

it("shares the bytes of objects with the data, but not of files that change in place", () => {
  const object = "s3/copra/a.mp4._S3rver_object";
  const part = `s3/copra/._S3rver_uploads/${"0".repeat(32)}/1`;
  const [from, to] = [join(folder, "data"), join(folder, "copy")];
  for (const file of [object, part, "secrets.json"]) {
    mkdirSync(dirname(join(from, file)), { recursive: true });
    writeFileSync(join(from, file), "earlier");
  }
  copyData(from, to);
  // The S3 server does this when a client sends a part again.
  writeFileSync(join(from, part), "later");
  expect(readFileSync(join(to, part), "utf8")).toBe("earlier");
  expect([object, part, "secrets.json"].map((file) => statSync(join(to, file)).nlink)).toEqual([2, 1, 1]);
});

it("copies a file again that was written just before, because a later write may have the same time", () => {
  const [from, to] = [join(folder, "data"), join(folder, "copy")];
  const file = join(from, "secrets.json");
  mkdirSync(from, { recursive: true });
  writeFileSync(file, "a");
  const stateOfAge = (seconds: number) => {
    utimesSync(file, 0, Date.now() / 1000 - seconds);
    return copyData(from, to).get("secrets.json");
  };
  expect([stateOfAge(60), stateOfAge(-60)]).toEqual([expect.any(String), null]);
});
