// Tests which runs get a network: the arguments of all these runs contain the URL of a served source.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLogger } from "#shared/log.ts";
import type { PlannedRun } from "#shared/plan/command/planned-run.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { findIsolation } from "../ffmpeg/sandbox/isolation.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { RANGE_INPUT_OPTIONS, type RangeProxy, startRangeProxy } from "../source/ranges/range-proxy.ts";
import { makeClip, tested } from "../testing/plan-runs.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { CommandLog } from "./command-log.ts";
import { runAll } from "./run-planned.ts";

const folder = fileFolder();
let proxy: RangeProxy;
beforeAll(async () => {
  proxy = await startRangeProxy();
  await makeClip(folder, "tone.wav", "-f lavfi -i sine=d=0.2");
});
afterAll(async () => {
  await proxy.close();
});

const { sandbox } = await findIsolation();

describe.skipIf(!sandbox)("a run that names the URL of a served source", () => {
  it.each<[PlannedRun["network"], object | null]>([
    ["loopback", null],
    ["none", { failure: { code: "encoding_failed" } }],
  ])("a run with network %s reaches the served source only if its plan allows it", async (network, failure) => {
    const bytes = await readFile(join(folder, "tone.wav"));
    const source = { read: async (into: Buffer, position: number) => bytes.copy(into, 0, position) };
    const input = proxy.open({ sizeBytes: bytes.length, reader: () => source });
    const argv = ["-v", "error", "-nostdin", ...RANGE_INPUT_OPTIONS, "-i", input.url, "-f", "null", "-"];
    const run: PlannedRun = { argv, network, inHardware: false, expectedFrames: null, durationMs: 200 };
    const work = await RunFiles.create(folder);
    const log = createLogger({ write: () => undefined, now: Date.now, level: "error" });
    const signal = AbortSignal.timeout(20_000);
    const commands = new CommandLog();
    const deps = {
      ffmpeg: tested.ffmpeg,
      log,
      workFolder: folder,
      signal,
      commands,
      trace: NO_TRACE,
      network: input.network,
    };
    const result = await runAll([run], work, () => undefined, deps);
    input.close();
    if (failure === null) expect(result).toBeNull();
    else expect(result).toMatchObject(failure);
    const [ran] = commands.reports();
    const isList = (argument = ""): boolean => argument.endsWith("_whitelist");
    const reported = argv
      .filter((argument, at) => !isList(argument) && !isList(argv[at - 1]))
      .map((argument) => (argument === input.url ? "source" : argument));
    expect(ran).toMatchObject({ argv: reported, tookMs: expect.any(Number) });
    expect(failure === null ? ran?.exitCode : ran?.stderrTail).toEqual(failure === null ? 0 : expect.any(String));
  });
});

it("a running command has its progress and messages in its output", async () => {
  const argv = ["-v", "info", "-nostdin", "-hide_banner", "-nostats", "-progress", "pipe:1", "-stats_period", "0.01"];
  // At the speed of playback: the messages at the start are read long before the last progress.
  const source = ["-re", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-f", "null", "-"];
  const run: PlannedRun = {
    argv: [...argv, ...source],
    network: "none",
    inHardware: false,
    expectedFrames: null,
    durationMs: 1000,
  };
  const work = await RunFiles.create(folder);
  const log = createLogger({ write: () => undefined, now: Date.now, level: "error" });
  const commands = new CommandLog();
  const outputs: string[] = [];
  const look = (): void => void outputs.push(commands.running()[0]?.stderrTail ?? "");
  const deps = {
    ffmpeg: tested.ffmpeg,
    log,
    workFolder: folder,
    signal: AbortSignal.timeout(20_000),
    commands,
    trace: NO_TRACE,
  };
  expect(await runAll([run], work, look, deps)).toBeNull();
  expect(outputs.at(-1)).toMatch(/lavfi[\s\S]*\nframe=\d+ time=00:00:\d\d\.\d{3}/);
});
