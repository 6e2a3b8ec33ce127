import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { whileFrozen } from "./frozen.ts";

it("freezes a process whose children end meanwhile, and rejects a missing process", async () => {
  // Each program of the loop ends at once.
  const busy = spawn("sh", ["-c", "echo ready; while :; do /bin/true; done"]);
  onTestFinished(() => void busy.kill("SIGKILL"));
  await once(busy.stdout, "data");
  const pid = busy.pid ?? 0;
  for (let round = 0; round < 100; round++) expect(whileFrozen([pid], () => round)).toBe(round);
  busy.kill("SIGKILL");
  await once(busy, "exit");
  expect(() => whileFrozen([pid], () => 0)).toThrow("ESRCH");
});
