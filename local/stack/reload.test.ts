import { expect, it } from "vitest";
import { partsRunning } from "./reload.ts";

it.each<[string, string[]]>([
  ["worker/http/app.ts", ["control plane"]],
  ["shared/plan/plan-encode.ts", ["control plane", "nodes"]],
  ["encoder-node/tasks/join/join.ts", ["nodes"]],
  ["migrations/0001_first.sql", ["control plane"]],
  ["local/control-plane/outbound.ts", ["control plane"]],
  ["local/demo/sample.ts", []],
  ["worker/http/app.test.ts", []],
  ["encoder-node/testing/name-server.ts", []],
  ["worker/README.md", []],
  ["worker/http/app.ts~", []],
])("saving %s restarts %j", (path, parts) => {
  expect(partsRunning(path)).toEqual(parts);
});
