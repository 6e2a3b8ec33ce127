import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { ROOT } from "../home/constants.ts";
import { type Child, startChild } from "./child.ts";

const folder = fileFolder();

let child: Child | undefined;
afterEach(() => child?.stop(0));
const messages: string[] = [];

/** Starts a program that is restarted when it exits. */
function start(program: string): Child {
  const script = join(folder, "program.mjs");
  const logFile = join(folder, "program.log");
  rmSync(logFile, { force: true });
  writeFileSync(script, program);
  messages.length = 0;
  const plan = { name: "The program", script: relative(ROOT, script), argv: [], env: {}, home: folder };
  child = startChild(
    { ...plan, logFile },
    () => {},
    (message) => messages.push(message),
  );
  return child;
}
const RUNS_ON = "setInterval(() => {}, 1000);";

it("restarts a killed child, with a message", async () => {
  const { pid, watch } = start(RUNS_ON);
  watch();
  const first = pid();
  process.kill(first, "SIGKILL");
  await expect.poll(pid).not.toBe(first);
  expect(messages).toEqual([expect.stringMatching(/^The program was killed with SIGKILL; restarting it\./)]);
});

it("lets a child finish its work before a restart, without a message", async () => {
  const program = 'process.on("SIGTERM", () => setTimeout(() => process.exit(0), 200)); console.log("ready");';
  const started = start(RUNS_ON + program);
  started.watch();
  const first = started.pid();
  await expect.poll(() => readFileSync(started.plan.logFile ?? "", "utf8")).toBe("ready\n");
  started.restart(5000);
  started.restart(5000);
  await expect.poll(started.pid).not.toBe(first);
  expect(messages).toEqual([]);
});

it("reports the reason of an early exit, from the end of the child's log", async () => {
  const line = JSON.stringify({ level: "error", message: "cannot start", reason: "no ffmpeg" });
  const { exitedEarly } = start(`console.log(${JSON.stringify(line)}); process.exit(3);`);
  expect(await exitedEarly).toMatch(
    /^The program exited with code 3\. The end of .*:\n {2}error: cannot start: no ffmpeg$/,
  );
});
