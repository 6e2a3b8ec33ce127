// Runs that pass a limit, with a real ffmpeg: each is ended by what is there for it, and says so.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "#shared/errors.ts";
import { locateFfmpeg } from "./build/locate.ts";
import { explainFailure } from "./explain-failure.ts";
import type { RunLimits } from "./limits.ts";
import { type Command, runCommand } from "./run-command.ts";
import { findIsolation } from "./sandbox/isolation.ts";

const { ffmpeg } = await locateFfmpeg(process.env);
const isolation = await findIsolation();
let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "copra-limits-"));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const REPORTING = ["-v", "error", "-nostdin", "-nostats", "-progress", "pipe:1", "-stats_period", "0.05"];
const command = (argv: readonly string[], limits: Partial<RunLimits> = {}): Command => ({
  ...{ path: ffmpeg.path, argv: [...REPORTING, ...argv], cwd, limits, stallMs: 20_000 },
});
/** Makes progress for ever. */
const endless = (...output: string[]): string[] => ["-re", "-f", "lavfi", "-i", "testsrc2=s=64x36:r=25", ...output];
const busy = (...output: string[]): string[] => ["-f", "lavfi", "-i", "testsrc2=s=320x180:r=25", ...output];
const VOID = ["-f", "null", "-"];

it("ends a run that goes on for ever, though it makes progress", async () => {
  expect(await runCommand(command(endless(...VOID), { wallMs: 400 }))).toMatchObject({ ok: false, reason: "time" });
});

describe.skipIf(isolation.limits.length === 0)("where there is prlimit", () => {
  it.each<[string, string[], Partial<RunLimits>, string, ErrorCode]>([
    ["the processors", busy(...VOID), { cpuSeconds: 1 }, "time", "encoding_failed"],
    ["the size of a file", busy("-y", "a.nut"), { fileBytes: 1e6, exceededByFile: "file" }, "file", "encoding_failed"],
    ["the room on the disk", busy("-y", "b.nut"), { fileBytes: 1e6, exceededByFile: "disk" }, "disk", "node_failed"],
  ])("ends a run that uses up %s", async (_what, argv, limits, reason, code) => {
    const result = await runCommand(command(argv, limits));
    expect(result).toMatchObject({ ok: false, reason });
    if (!result.ok) expect(explainFailure(result.stderrTail, result).code).toBe(code);
  });

  it("lets a run fail that needs more memory than it may have, and says what it lacks", async () => {
    // Pictures of an input as large as that might be what there is no room for, which is taken for the input's fault.
    const large = [...busy("-frames:v", "30"), "-vf", "scale=3840:2160", "-c:v", "libx264"];
    const result = await runCommand(command([...large, ...VOID], { memoryBytes: 900 * 2 ** 20 }));
    expect(result.ok ? null : explainFailure(result.stderrTail, result)).toEqual({
      code: "node_failed",
      message: "The work needs more memory than its node can give to one run.",
    });
  });

  it("fails rather than leave out a gap of sound for which it lacks the memory", async () => {
    const gap = "anullsrc=r=8000:cl=mono:d=2,asetpts='PTS+gte(T,1)*36000/TB'";
    const made = await runCommand(command(["-f", "lavfi", "-i", gap, "-c:a", "pcm_s16le", "-y", "gap.mkv"]));
    expect(made).toEqual({ ok: true });
    const filled = ["-i", "gap.mkv", "-af", "aresample=async=1", "-y", "filled.wav"];
    const result = await runCommand(command(filled, { memoryBytes: 600 * 2 ** 20 }));
    expect(result.ok ? null : explainFailure(result.stderrTail, result)).toEqual({
      code: "node_failed",
      message:
        "The input's sound has a gap so long that silence for it needs more memory than the node can give to one run.",
    });
  });

  it("sets what no run needs much of: open files, dumps of memory, precedence", async () => {
    const script = "sleep 0.2; (ulimit -n; ulimit -c; nice; cat /proc/self/oom_score_adj) >&2; exit 1";
    const result = await runCommand({ ...command([]), path: "/bin/sh", argv: ["-c", script] });
    const score = Math.min(1000, Number(await readFile("/proc/self/oom_score_adj", "utf8")) + 500);
    expect(result.ok ? "" : result.stderrTail).toBe(`1024\n0\n${Math.max(10, getPriority())}\n${score}\n`);
  });
});

it("tells a crash from a kill", async () => {
  const dying = (signal: string): Command => ({ ...command([]), path: "/bin/sh", argv: ["-c", `kill -${signal} $$`] });
  const reasons = await Promise.all(["SEGV", "KILL"].map((signal) => runCommand(dying(signal))));
  expect(reasons).toMatchObject([{ signal: "SIGSEGV" }, { signal: "SIGKILL" }]);
});
