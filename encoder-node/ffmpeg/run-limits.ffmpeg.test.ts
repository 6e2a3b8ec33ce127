// Runs of a real ffmpeg that exceed a limit: each is ended by that limit and reports it.
import { mkdtemp, readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { locateFfmpeg } from "./discover/locate.ts";
import { explainFailure } from "./explain-failure.ts";
import type { RunLimits } from "./limits.ts";
import { type Command, runCommand } from "./run-command.ts";
import { findIsolation } from "./sandbox/isolation.ts";

const { ffmpeg } = await locateFfmpeg(process.env);
const isolation = await findIsolation();
const cwd = fileFolder();

const REPORTING = ["-v", "error", "-nostdin", "-nostats", "-progress", "pipe:1", "-stats_period", "0.05"];
const command = (argv: readonly string[], limits: Partial<RunLimits> = {}): Command => ({
  path: ffmpeg.path,
  argv: [...REPORTING, ...argv],
  cwd,
  limits,
  stallMs: 20_000,
});
/** Makes progress forever. */
const endless = (...output: string[]): string[] => ["-re", "-f", "lavfi", "-i", "testsrc2=s=64x36:r=25", ...output];
const busy = (...output: string[]): string[] => ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", ...output];
const VOID = ["-f", "null", "-"];

it("ends a run that makes progress but never finishes", async () => {
  expect(await runCommand(command(endless(...VOID), { wallMs: 400 }))).toMatchObject({ ok: false, reason: "time" });
});

it("lets a run wait for its input, however long", async () => {
  const waiting = { ...command([], { wallMs: 100 }), path: "/bin/sh", argv: ["-c", "sleep 0.5"], stallMs: 100 };
  expect(await runCommand({ ...waiting, mayWait: () => true })).toEqual({ ok: true });
  expect(await runCommand({ ...waiting, mayWait: () => false })).toMatchObject({ ok: false });
});

describe.skipIf(!isolation.hasProgram)("with limits", () => {
  it.each<[string, string[], Partial<RunLimits>, string, ErrorCode]>([
    ["CPU time", busy(...VOID), { cpuSeconds: 1 }, "time", "encoding_failed"],
    ["the size of a file", busy("-y", "a.nut"), { fileBytes: 1e6, exceededByFile: "file" }, "file", "encoding_failed"],
    ["the free disk space", busy("-y", "b.nut"), { fileBytes: 1e6, exceededByFile: "disk" }, "disk", "node_failed"],
  ])("ends a run that uses up %s", async (_what, argv, limits, reason, code) => {
    const result = await runCommand(command(argv, limits));
    expect(result).toMatchObject({ ok: false, reason });
    if (!result.ok) expect(explainFailure(result.stderrTail, result, cwd).code).toBe(code);
  });

  it("fails a run that needs more memory than its limit, and names the reason", async () => {
    // Only the output is large: ffmpeg takes input frames that do not fit into memory for a damaged input.
    const large = [...busy("-frames:v", "30"), "-vf", "scale=3840:2160", "-c:v", "libx264"];
    const result = await runCommand(command([...large, ...VOID], { memoryBytes: 900 * 2 ** 20 }));
    expect(result.ok ? null : explainFailure(result.stderrTail, result, cwd)).toEqual({
      code: "node_failed",
      message:
        "The encode needs more memory than one run may use; choose a smaller size, or use a node with more memory.",
    });
  });

  it("fails when it lacks the memory to fill a gap in the audio", async () => {
    const gap = "anullsrc=r=8000:cl=mono:d=2,asetpts='PTS+gte(T,1)*36000/TB'";
    const gapRun = await runCommand(command(["-f", "lavfi", "-i", gap, "-c:a", "pcm_s16le", "-y", "gap.mkv"]));
    expect(gapRun).toEqual({ ok: true });
    const filled = ["-i", "gap.mkv", "-af", "aresample=async=1", "-y", "filled.wav"];
    const result = await runCommand(command(filled, { memoryBytes: 600 * 2 ** 20 }));
    expect(result.ok ? null : explainFailure(result.stderrTail, result, cwd)).toEqual({
      code: "node_failed",
      message:
        "The input's audio has a gap so long that filling it with silence needs more memory than one run may use; " +
        "remove the gap, or use a node with more memory.",
    });
  });

  it("limits open files and core dumps, and lowers the priority", async () => {
    const script = "sleep 0.2; (ulimit -n; ulimit -c; nice; cat /proc/self/oom_score_adj) >&2; exit 1";
    const result = await runCommand({ ...command([]), path: "/bin/sh", argv: ["-c", script] });
    const score = Math.min(1000, Number(await readFile("/proc/self/oom_score_adj", "utf8")) + 500);
    expect(result.ok ? "" : result.stderrTail).toBe(`1024\n0\n${Math.max(10, getPriority())}\n${score}\n`);
  });
});

it.skipIf(!isolation.sandbox?.countsProcesses)("limits the processes of each run separately", async () => {
  const script = "for i in $(seq 1 60); do sleep 20 & done; exit 0";
  const forking = { ...command([], { processes: 30 }), path: "/bin/sh", argv: ["-c", script] };
  const result = await runCommand(forking);
  expect(result.ok ? "" : result.stderrTail).toMatch(/[Cc]annot fork|fork: retry|Resource temporarily unavailable/);
  expect(await runCommand({ ...forking, limits: { processes: 200 } })).toEqual({ ok: true });
});

it("ends a run that makes too many files", async () => {
  const dir = await mkdtemp(join(cwd, "files-"));
  const script = "i=0; while :; do : > $i; i=$((i+1)); done";
  const result = await runCommand({ ...command([], { files: 100 }), path: "/bin/sh", argv: ["-c", script], cwd: dir });
  expect(result).toMatchObject({ ok: false, reason: "files" });
});

it("distinguishes a crash from a kill", async () => {
  const dying = (signal: string): Command => ({ ...command([]), path: "/bin/sh", argv: ["-c", `kill -${signal} $$`] });
  const reasons = await Promise.all(["SEGV", "KILL"].map((signal) => runCommand(dying(signal))));
  expect(reasons).toMatchObject([{ signal: "SIGSEGV" }, { signal: "SIGKILL" }]);
});
