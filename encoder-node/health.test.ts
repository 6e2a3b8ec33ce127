import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { createLogger } from "#shared/log.ts";
import { parseHealthAddress, serveHealth, writeHeartbeats } from "./health.ts";

it("answers probes: alive, and ready or why not", async () => {
  let reasons: string[] = [];
  const server = await serveHealth({ host: "127.0.0.1", port: 0 }, () => reasons);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
    return [response.status, await response.json()];
  };
  expect(await get("/health/ready")).toEqual([200, { status: "ready" }]);
  reasons = ["draining"];
  expect(await get("/health/ready?x")).toEqual([503, { status: "not ready", reasons }]);
  expect(await get("/health")).toEqual([200, { status: "ready" }]);
  expect((await get("/metrics"))[0]).toBe(404);
  server.close();
});

it("writes a file again and again, and goes on when it cannot", () => {
  vi.useFakeTimers();
  const folder = mkdtempSync(join(tmpdir(), "copra-health-"));
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), now: () => 0, level: "info" });
  const reasons: string[] = [];
  const end = writeHeartbeats(join(folder, "alive"), () => reasons, log);
  const read = () => JSON.parse(readFileSync(join(folder, "alive"), "utf8"));
  expect(read()).toEqual({ status: "ready" });
  reasons.push("not connected to the control plane");
  vi.advanceTimersByTime(10_000);
  expect(read()).toEqual({ status: "not ready", reasons });
  rmSync(folder, { recursive: true });
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([expect.stringContaining("Heartbeat not written")]);
  end();
  vi.useRealTimers();
});

it.each([
  ["8788", { host: "127.0.0.1", port: 8788 }],
  ["0.0.0.0:8788", { host: "0.0.0.0", port: 8788 }],
  ["[::]:8788", { host: "::", port: 8788 }],
  ["", null],
  ["70000", null],
  ["http", null],
])("reads %j as an address", (text, address) => expect(parseHealthAddress(text)).toEqual(address));
