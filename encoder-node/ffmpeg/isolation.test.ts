import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describeIsolation, findIsolation, isolationPrefix } from "./isolation.ts";
import { parseHardLimits, probeLimits } from "./limits.ts";

it("says what a system without the means does not keep ffmpeg from", () => {
  const none = { network: [], tie: [], limits: [], hard: parseHardLimits("") };
  expect(describeIsolation(none)).toEqual({
    network: "not cut off: unshare does not work here",
    limits: "by the clock only, not memory, processor, file size: there is no prlimit",
    endsWithNode: "unless the node is killed: there is no setpriv with --pdeathsig",
  });
});

it.skipIf(process.platform !== "linux")("ties a run to this process behind a change of user namespace", async () => {
  const { network, tie } = await findIsolation();
  const limits = probeLimits(60_000);
  const own = await isolationPrefix(limits, "own");
  expect(own.slice(0, network.length + tie.length)).toEqual([...network, ...tie]);
  expect(await isolationPrefix(limits, "loopback")).toEqual(own.slice(network.length));
});

it.skipIf(process.platform !== "linux")("puts a run behind a process that stands far behind itself", async () => {
  const script = `
    import { spawn } from "node:child_process";
    import { readFileSync, writeFileSync } from "node:fs";
    import { getPriority } from "node:os";
    import { setTimeout as sleep } from "node:timers/promises";
    import { subordinate } from ${JSON.stringify(new URL("./isolation.ts", import.meta.url).href)};
    writeFileSync("/proc/self/oom_score_adj", "900");
    const { pid } = spawn("sleep", ["5"]);
    subordinate(pid);
    const score = () => readFileSync(\`/proc/\${pid}/oom_score_adj\`, "utf8").trim();
    for (let round = 0; round < 100 && score() === "900"; round++) await sleep(20);
    console.log(getPriority(pid) - getPriority(), score());
    process.kill(pid);
    process.exit();
  `;
  const argv = ["-n", "15", process.execPath, "--input-type=module", "--eval", script];
  const { stdout } = await promisify(execFile)("nice", argv);
  expect(stdout).toBe("0 1000\n");
});
