import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { SLOW } from "../testing/few.ts";
import { locateFfmpeg } from "./discover/locate.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Progress, progressLine } from "./read-progress.ts";
import { type Command, runCommand } from "./run-command.ts";

const { ffmpeg } = await locateFfmpeg(process.env);
const cwd = fileFolder();

/** A command that encodes a generated clip as fast as it can. */
const encode = (...output: string[]): Command => ({
  path: ffmpeg.path,
  argv: [
    ...["-v", "error", "-nostdin", "-nostats", "-progress", "pipe:1", "-stats_period", "0.05"],
    ...["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25", ...output],
  ],
  cwd,
  stallMs: 10_000,
});
const shell = (script: string): Command => ({ path: "/bin/sh", argv: ["-c", script], cwd, stallMs: 10_000 });

/** True if any process has this text in its command line. */
async function isAlive(marker: string): Promise<boolean> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "args"]);
  return stdout.includes(marker);
}

it("reports progress up to the end of a successful encode", async () => {
  const seen: Progress[] = [];
  const command = encode("-frames:v", "100", "-c:v", "libx264", "-preset", "ultrafast", "-f", "null", "-");
  const result = await runCommand({ ...command, onProgress: (progress) => seen.push(progress), expectedFrames: 100 });
  expect(result).toEqual({ ok: true });
  const rate = { fps: expect.any(Number), speed: expect.any(Number) };
  expect(seen.at(-1)).toEqual({ frame: 100, outTimeMs: expect.any(Number), ended: true, ...rate });
  expect(seen.map(({ frame }) => frame)).toEqual(seen.map(({ frame }) => frame).toSorted((a, b) => a - b));
});

it.each(["9223372036854775807", "-9223372036854775808", "1e300", "NaN", "0x7fffffffffffffff", "Infinity"])(
  "shows the progress of a command that prints the time %s",
  async (time) => {
    const lines: string[] = [];
    const block = `frame=${time}\\nout_time_us=${time}\\nfps=${time}\\nspeed=${time}x\\nprogress=continue\\n`;
    const onProgress = (progress: Progress): void => void lines.push(progressLine(progress));
    expect(await runCommand({ ...shell(`printf '${block}'`), onProgress })).toEqual({ ok: true });
    expect(lines).toEqual(["frame=0 time=00:00:00.000"]);
  },
);

it("fails a command whose progress cannot be handled, and no other", async () => {
  const onProgress = (): void => {
    throw new RangeError("Invalid time value");
  };
  const result = await runCommand({ ...shell("echo progress=continue; sleep 60"), onProgress });
  expect(result).toMatchObject({ ok: false, reason: "exit" });
  expect(result.ok ? null : explainFailure(result.stderrTail, result, cwd)).toEqual({
    code: "encoding_failed",
    message: "The encode failed: The node cannot handle the progress: Invalid time value.",
  });
});

it("keeps the end of a failing command's stderr", async () => {
  expect(await runCommand(encode("-c:v", "nosuch", "-f", "null", "-"))).toMatchObject({
    ok: false,
    reason: "exit",
    exitCode: expect.any(Number),
    stderrTail: expect.stringContaining("Unknown encoder 'nosuch'"),
  });
  const loud = await runCommand(shell("yes line | head -n 100000 >&2; echo last >&2; exit 7"));
  expect(loud).toMatchObject({ ok: false, reason: "exit", exitCode: 7, stderrTail: expect.stringMatching(/last\n$/) });
  expect(loud.ok ? 0 : loud.stderrTail.length).toBe(8192);
});

it.each([
  [cwd, "encoding_failed"],
  ["/elsewhere", "input_not_media"],
])(
  "blames the input for a file that ffmpeg cannot open only if the file is not in the work folder (%s)",
  async (folder, code) => {
    const path = join(cwd, "texts.mkv");
    await writeFile(path, "no Matroska".repeat(50));
    const result = await runCommand(encode("-i", `file:${path}`, "-f", "null", "-"));
    expect(result.ok ? null : explainFailure(result.stderrTail, result, folder).code).toBe(code);
  },
);

it("settles when the program cannot be started or dies of a signal", async () => {
  const failed = { ok: false, exitCode: null };
  const nowhere = await runCommand({ ...shell(""), path: "/nowhere/ffmpeg" });
  expect(nowhere).toMatchObject({ ok: false, reason: "exit" });
  expect(nowhere.ok ? null : explainFailure(nowhere.stderrTail, nowhere, cwd).code).toBe("node_failed");
  const absent = await runCommand({ ...shell("true"), cwd: "/nowhere" });
  expect(absent).toEqual({
    ...failed,
    reason: "exit",
    stderrTail: expect.stringMatching(/^Cannot start \w+: ENOENT$/),
  });
  const invalid = { ...shell(""), argv: ["a\0b"] };
  expect(await runCommand(invalid)).toMatchObject({ ...failed, reason: "exit" });
  expect(await runCommand(shell("kill -KILL $$"))).toMatchObject({ ...failed, reason: "signal" });
});

it("stops an encode when it is aborted", async () => {
  const controller = new AbortController();
  const command = { ...encode("-c:v", "libx264", "-f", "null", "-"), signal: controller.signal };
  const value = await runCommand({ ...command, onProgress: () => controller.abort() });
  expect(value).toMatchObject({ ok: false, reason: "aborted" });
  expect(await runCommand(command)).toMatchObject({ ok: false, reason: "aborted" });
});

it("kills all processes of a command at once, even if they ignore SIGTERM", async () => {
  const marker = `397.${process.pid}`;
  const controller = new AbortController();
  const stubborn = shell(
    `trap '' TERM; (trap '' TERM; sleep ${marker}) & echo frame=1; echo progress=continue; wait; sleep ${marker}`,
  );
  const value = await runCommand({ ...stubborn, signal: controller.signal, onProgress: () => controller.abort() });
  expect(value).toMatchObject({ ok: false, reason: "aborted", exitCode: null });
  expect(await isAlive(marker)).toBe(false);
});

it("leaves no process behind when a command ends while its children hold the pipes", async () => {
  const marker = `398.${process.pid}`;
  const value = await runCommand(shell(`sleep ${marker} & exit 0`));
  expect(value).toEqual({ ok: true });
  expect(await isAlive(marker)).toBe(false);
});

it("settles when a child that left the group holds the pipes", async () => {
  const marker = `399.${process.pid}`;
  const left = `left.${process.pid}`;
  const child = `setsid sh -c 'touch ${left}; exec sleep ${marker}'`;
  const value = await runCommand(shell(`${child} & until [ -e ${left} ]; do sleep 0.02; done; exit 3`));
  expect(value).toMatchObject({ ok: false, reason: "exit", exitCode: 3 });
  // With a separate process namespace, the child has already ended with its parent.
  await promisify(execFile)("pkill", ["-f", `sleep ${marker}`]).catch(() => undefined);
});

it("stops a command that makes no progress, but not a slow command", SLOW, async () => {
  const block = "echo frame=$i; echo progress=continue";
  const stuck = { ...shell(`i=1; while true; do ${block}; sleep 0.05; done`), stallMs: 3000 };
  const slow = { ...shell(`for i in 1 2 3 4 5 6 7 8 9; do ${block}; sleep 0.5; done`), stallMs: 3000 };
  const [ended, completed] = await Promise.all([runCommand(stuck), runCommand(slow)]);
  expect(ended).toMatchObject({ ok: false, reason: "stalled" });
  expect(completed).toEqual({ ok: true });
});

it("stops a run that makes far more frames than expected", async () => {
  const result = await runCommand({ ...shell("echo frame=5000; echo progress=continue; sleep 9"), expectedFrames: 2 });
  expect(result).toMatchObject({ ok: false, reason: "frames" });
});

const ends = ["process.exit(0)", ...(process.platform === "linux" ? ["process.kill(process.pid, 'SIGKILL')"] : [])];
it.each(ends)("kills running commands when its own process ends by %s", async (end) => {
  const marker = `399.${process.pid}`;
  const script = `
    import { runCommand } from ${JSON.stringify(new URL("./run-command.ts", import.meta.url).href)};
    runCommand({ path: "/bin/sleep", argv: ["${marker}"], cwd: "/", writesNothing: true, stallMs: 60000 });
    process.stdin.once("data", () => ${end});
  `;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Waits for the program itself. Its wrappers name it in their arguments, but do not yet end with their parent.
  await expect.poll(() => isAlive(`\n/bin/sleep ${marker}`)).toBe(true);
  child.stdin.write("end");
  await once(child, "exit");
  await expect.poll(() => isAlive(marker)).toBe(false);
});
