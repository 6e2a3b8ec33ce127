import { expect, it } from "vitest";
import { EXIT, exitCodeOfStatus } from "./exit.ts";

// The exit codes of docs/cli.md. Scripts repeat commands that end with `service`, and no others.
it.each<[keyof typeof EXIT, readonly number[]]>([
  ["notAllowed", [401, 403]],
  ["notFound", [404]],
  ["usage", [400, 405, 409, 410, 412, 413, 416, 422, 460]],
  ["service", [0, 200, 304, 408, 429, 500, 502, 503, 504, 599]],
])("ends with the exit code %s for the responses %j", (name, statuses) => {
  expect(statuses.filter((status) => exitCodeOfStatus(status) !== EXIT[name])).toEqual([]);
});
