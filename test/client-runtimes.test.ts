// The client in a browser and in the installed Node, which is often older than the Node that runs the tests.
import { execFile } from "node:child_process";
import { accessSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, expect } from "vitest";
import { it } from "./fixtures.ts";
import { launchChromium } from "./players/chromium.ts";
import { startClientService } from "./services/client-service.ts";

const CASES = fileURLToPath(new URL("../client/testing/cases.ts", import.meta.url));
/** Runs all cases at the same time. The result has a line for each failed case. */
const RUN_ALL = `
  const failures = (origin) => Promise.all(CASES.map(([title, run]) => run(origin).then(() => [], (error) => [title + ": " + error.message])))
    .then((all) => ({ cases: CASES.length, failed: all.flat() }));`;

let service: Awaited<ReturnType<typeof startClientService>>;
let code = "";

beforeAll(async () => {
  service = await startClientService();
  const options = { bundle: true, write: false, format: "iife", globalName: "cases", target: "es2022" } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [CASES] });
  code = `${outputFiles[0]?.text}; const { CASES } = cases; ${RUN_ALL}`;
});
afterAll(() => service?.stop());

it("works in Chromium", async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(service.origin);
    const result = await page.evaluate(`(() => { ${code}; return failures(${JSON.stringify(service.origin)}); })()`);
    expect(result).toEqual({ cases: expect.any(Number), failed: [] });
  } finally {
    await browser.close();
  }
});

it("works in the installed Node", async ({ folder }) => {
  const script = join(folder, "cases.mjs");
  const print = `failures(${JSON.stringify(service.origin)}).then((all) => console.log(JSON.stringify(all)));`;
  writeFileSync(script, `${code}\n${print}`);
  const { stdout } = await promisify(execFile)(installedNode(), [script]);
  expect(JSON.parse(stdout)).toEqual({ cases: expect.any(Number), failed: [] });
});

/** The first `node` on the PATH that npm did not install. */
function installedNode(): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const path = folders.map((folder) => join(folder, "node")).find(exists);
  return path ?? process.execPath;
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
