import { describe, expect, it } from "vitest";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { argumentsOf, CommandLog, NO_COMMANDS, withCommands } from "./command-log.ts";
import { newTask, type TaskState } from "./task-state.ts";

const SINCE = 1_795_000_000_000;

function taskOf(chunk: number): TaskState {
  const task = newTask({ kind: "chunk", round: 0, outputs: [0], chunk });
  const lease = { nodeId: "attic", session: "s", token: "t", expiresAt: 0, since: SINCE, confirmBy: null };
  return { ...task, attempt: 1, lease: { ...lease, isSuspected: false } };
}

const ran = (argv: string[], more: Partial<CommandReport> = {}): CommandReport => ({
  argv,
  afterMs: 40,
  tookMs: 900,
  exitCode: 0,
  ...more,
});
/** A long command, like the commands of chunks, which differ only in a few times. */
const chunkArgv = (chunk: number): string[] => [
  ...["-ss", `${chunk * 24}.000`, "-t", "24", "-i", "source"],
  ...Array.from({ length: 120 }, (_, at) => `-option-${at}-of-an-encoder`),
  `chunk-${chunk}.mp4`,
];

const allArguments = (log: CommandLog): string[][] =>
  log.attempts.flatMap(({ runs }) => runs.map((run) => argumentsOf(log, run)));

describe("the commands of a job", () => {
  it.each([
    ["aaa", "aa"],
    ["aa", "aaa"],
    ["", "x"],
    ["x", ""],
    ["trim=start=10,scale", "trim=start=1050,scale"],
    ["abcabc", "abc"],
    ["é😀b", "é😁b"],
  ])("keeps a command the same through packing: %j after %j", (one, other) => {
    const argv = (text: string): string[] => [text, ...Array.from({ length: 9 }, () => "the same")];
    const log = withCommands(NO_COMMANDS, taskOf(0), [ran(argv(one)), ran(argv(other))]);
    expect(log.bases).toHaveLength(1);
    expect(allArguments(log)).toEqual([argv(one), argv(other)]);
  });

  it("keeps commands with their task, node and time", () => {
    const log = withCommands(NO_COMMANDS, taskOf(3), [
      ran(["-i", "source"]),
      ran(["-x"], { exitCode: 1, stderrTail: "no" }),
    ]);
    expect(CommandLog.parse(JSON.parse(JSON.stringify(log)))).toEqual(log);
    const runs = [
      [0, [], 40, 900, null],
      [1, [], 40, 900, { exitCode: 1, stderrTail: "no" }],
    ];
    expect(log.attempts).toMatchObject([{ task: "chunk-3", attempt: 1, nodeId: "attic", since: SINCE, runs }]);
    expect(allArguments(log)).toEqual([["-i", "source"], ["-x"]]);
  });

  it("keeps all commands of 300 chunks, because they differ in little", () => {
    const chunks = Array.from({ length: 300 }, (_, chunk) => chunk);
    const log = chunks.reduce((kept, chunk) => withCommands(kept, taskOf(chunk), [ran(chunkArgv(chunk))]), NO_COMMANDS);
    expect([log.attempts.length, log.bases.length, log.dropped]).toEqual([300, 1, 0]);
    expect(allArguments(log)).toEqual(chunks.map(chunkArgv));
  });

  it("limits commands: drops successful commands first, the oldest first", () => {
    const different = (n: number): string[] => Array.from({ length: 100 }, (_, at) => `${n} ${at} ${"x".repeat(20)}`);
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const log = numbers.reduce(
      (kept, n) => withCommands(kept, taskOf(n), [ran(different(n), n === 5 ? { exitCode: 1 } : {})]),
      NO_COMMANDS,
    );
    expect(JSON.stringify(log).length).toBeLessThanOrEqual(68_000);
    expect(log.attempts.length + log.dropped).toBe(100);
    expect([log.attempts[0]?.task, log.attempts.at(-1)?.task]).toEqual(["chunk-5", "chunk-99"]);
    expect(allArguments(log).map(([first]) => first)).toEqual(
      log.attempts.map(({ task }) => `${task.slice(6)} 0 ${"x".repeat(20)}`),
    );
  });

  it("shows no secret of a URL, whatever a node reports", () => {
    const url = "https://me:sesame-1@media.example.com/v.mp4?X-Amz-Signature=sesame-2#sesame-3";
    const noisy = ran(["-i", url, `movie=${url}`, `"${url}"`], { exitCode: 1, stderrTail: `${url}: no\n<${url}>` });
    const text = JSON.stringify(withCommands(NO_COMMANDS, taskOf(0), [noisy]));
    expect(text).toContain("https://media.example.com/v.mp4");
    expect(text).not.toContain("sesame");
  });
});
