import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { emptiedFolder } from "../../test/fixtures.ts";
import { partsRunning, restartOnSave } from "./reload.ts";
import type { StackPart } from "./stack.ts";

it.each<[string, StackPart[]]>([
  ["worker/http/app.ts", ["control plane"]],
  ["shared/plan/tasks/plan-encode.ts", ["control plane", "nodes"]],
  ["encoder-node/tasks/join/join.ts", ["nodes"]],
  ["migrations/0001_first.sql", ["control plane"]],
  ["local/control-plane/outbound.ts", ["control plane"]],
  ["local/demo/sample.ts", []],
  ["worker/http/app.test.ts", []],
  ["encoder-node/testing/processes/name-server.ts", []],
  ["worker/README.md", []],
  ["worker/http/app.ts~", []],
])("saving the file %s restarts %j", (path, parts) => {
  expect(partsRunning(path)).toEqual(parts);
});

const root = emptiedFolder();
const save = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
let stop: (() => void) | undefined;
afterEach(() => {
  stop?.();
});

it("restarts a part once its saved files can be loaded, and prints the error while they cannot", async () => {
  for (const file of ["migrations/1.sql", "local/front/a.ts", "local/control-plane/a.ts", "shared/a.ts"])
    save(file, "");
  save("worker/index.ts", 'import "./app.ts"; import "cloudflare:workers";');
  save("worker/app.ts", "");
  save("encoder-node/main.ts", "");
  const restarted: StackPart[] = [];
  const messages: string[] = [];
  stop = restartOnSave({ root, restart: (part) => restarted.push(part), notify: (message) => messages.push(message) });
  save("worker/app.ts", "const unfinished = ;");
  await expect.poll(() => messages.at(-1)).toMatch(/control plane cannot load it.*worker\/app\.ts:1:/s);
  expect(restarted).toEqual([]);
  save("worker/app.ts", "const finished = 1;");
  await expect.poll(() => restarted).toEqual(["control plane"]);
  expect(messages.at(-1)).toBe("worker/app.ts saved: restarting the control plane.");
});
