// The files of $COPRA_HOME with credentials.
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as z from "zod";
import { emptiedFolder } from "../../test/fixtures.ts";
import { readPrivateJson, writePrivateJson } from "./private-file.ts";
import { loadSecrets, saveSecrets } from "./secrets.ts";
import { writeStackFile } from "./stack-file.ts";

const home = emptiedFolder();
const STACK = {
  api: "http://127.0.0.1:8787/v2",
  apiKey: "k-secret",
  adminToken: "a-secret",
  nodeToken: "n-secret",
  s3: {
    endpoint: "http://127.0.0.1:9000",
    region: "local",
    bucket: "copra",
    accessKeyId: "COPRA",
    secretAccessKey: "secret",
  },
  pids: { controlPlane: 1, s3: 2, nodes: [3] },
};
const modeOf = (name: string): string => (statSync(join(home, name)).mode & 0o777).toString(8);

it.each<[name: string, write: () => void]>([
  ["stack.json", () => writeStackFile(home, STACK)],
  ["secrets.json", () => saveSecrets(home, loadSecrets(home))],
  ["any.json", () => writePrivateJson(join(home, "any.json"), {})],
])("lets only the owner read %s, whatever rights an earlier file had", (name, write) => {
  const umask = process.umask(0);
  try {
    write();
    expect(modeOf(name)).toBe("600");
    chmodSync(join(home, name), 0o666);
    write();
  } finally {
    process.umask(umask);
  }
  expect(modeOf(name)).toBe("600");
  expect(readdirSync(home)).toEqual([name]);
});

it("names a damaged file, and does not replace it", () => {
  const path = join(home, "any.json");
  writePrivateJson(path, { port: "http" });
  expect(() => readPrivateJson(path, z.object({ port: z.int() }))).toThrow(`${path} is damaged`);
  expect(readPrivateJson(join(home, "other.json"), z.object({}))).toBeNull();
});
