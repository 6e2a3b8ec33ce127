import { describe, expect, it } from "vitest";
import type { CommandReport } from "#shared/protocol/commands.ts";
import { CommandLog, NO_COMMANDS, withCommands } from "./command-log.ts";
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
const allArguments = (log: CommandLog): string[][] => log.attempts.flatMap(({ runs }) => runs.map(({ argv }) => argv));

describe("the commands of a job", () => {
  it("keeps commands with their task, node and time", () => {
    const log = withCommands(NO_COMMANDS, taskOf(3), [
      ran(["-i", "source"]),
      ran(["-x"], { exitCode: 1, stderrTail: "no" }),
    ]);
    expect(CommandLog.parse(JSON.parse(JSON.stringify(log)))).toEqual(log);
    const runs = [
      { argv: ["-i", "source"], afterMs: 40, tookMs: 900, failure: null },
      { argv: ["-x"], afterMs: 40, tookMs: 900, failure: { exitCode: 1, stderrTail: "no" } },
    ];
    expect(log.attempts).toMatchObject([{ task: "chunk-3", attempt: 1, nodeId: "attic", since: SINCE, runs }]);
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
