// vitest's default reporter with less to read: one line a file, nothing of what passing tests log, and a summary at
// the end with the slowest files and each failed test.
import { Console } from "node:console";
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { SerializedError } from "vitest";
import { DefaultReporter, type TestCase, type TestModule, type TestRunEndReason, type Vitest } from "vitest/node";

/** Below this the durations of single tests are not printed. */
const SLOW_TEST_MS = 20_000;
/** How many files are listed at the end of a run. */
const SLOWEST = 10;
/** How much of an error stands beside the name of the test that it failed: CI may keep only the end of its output. */
const REASON_LENGTH = 600;

/** What `.ci/run` reads: $COPRA_TEST_REPORT names the file. */
export type RunReport = {
  readonly passed: number;
  readonly failed: readonly string[];
};

export default class QuietReporter extends DefaultReporter {
  /** What workerd has printed since the last file of its projects ended. */
  #held: string[] = [];

  constructor() {
    super({ summary: false });
  }

  override onInit(vitest: Vitest): void {
    super.onInit(vitest);
    vitest.config.slowTestThreshold = SLOW_TEST_MS;
    if (vitest.config.silent === "passed-only") this.#holdOutputOfWorkerd(vitest);
  }

  override onTestModuleEnd(testModule: TestModule): void {
    super.onTestModuleEnd(testModule);
    if (!testModule.project.name.startsWith("worker")) return;
    if (testModule.state() === "failed") this.log(this.#held.join(""));
    this.#held = [];
  }

  override onTestRunEnd(
    testModules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    super.onTestRunEnd(testModules, unhandledErrors, reason);
    const report = reportOf(testModules, unhandledErrors);
    if (testModules.length > SLOWEST) for (const line of slowestFiles(testModules)) this.log(line);
    for (const name of report.failed) this.log(`FAILED ${name}`);
    const path = process.env.COPRA_TEST_REPORT;
    if (path) writeFileSync(path, JSON.stringify(report));
  }

  /**
   * The pool of the projects `worker` and `worker-soak` writes all that workerd prints, expected errors too, to this
   * process's stdout and stderr: held back until it is known whether the file passes. vitest itself writes past this.
   */
  #holdOutputOfWorkerd({ logger }: Vitest): void {
    const unheld = (stream: NodeJS.WriteStream): NodeJS.WriteStream => {
      const write = stream.write.bind(stream);
      stream.write = (chunk: string | Uint8Array, ...others: unknown[]) => {
        this.#held.push(Buffer.from(chunk).toString());
        const done = others.at(-1);
        if (typeof done === "function") process.nextTick(done);
        return true;
      };
      // vitest pipes the output of its workers there, each of which ends.
      return Object.create(stream, { write: { value: write }, end: { value: () => undefined } }) as NodeJS.WriteStream;
    };
    const [outputStream, errorStream] = [unheld(process.stdout), unheld(process.stderr)];
    Object.assign(logger, { outputStream, errorStream, console: new Console(outputStream, errorStream) });
    // Where vitest itself dies, its last words are in there.
    process.once("exit", (code) => {
      if (code !== 0) logger.console.error(this.#held.join(""));
    });
  }
}

/**
 * A file that cannot even be loaded has no failed tests, and yet has failed; so has a run with an error outside any
 * test.
 */
export function reportOf(
  testModules: readonly TestModule[],
  unhandledErrors: readonly { message?: string }[],
): RunReport {
  const tests = testModules.flatMap((testModule) => [...testModule.children.allTests()]);
  const failed = tests.filter((test) => test.result().state === "failed");
  const broken = testModules.filter(
    (testModule) => testModule.state() === "failed" && !failed.some((test) => test.module === testModule),
  );
  return {
    passed: tests.filter((test) => test.result().state === "passed").length,
    failed: [
      ...failed.map((test) => `${nameOf(test)}${reasonOf(test.result().errors)}`),
      ...broken.map((testModule) => `${testModule.relativeModuleId}: the file${reasonOf(testModule.errors())}`),
      ...unhandledErrors.map(({ message }) => `an error outside the tests: ${message}`),
    ],
  };
}

const nameOf = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;

/** The first error on one line: its message, and the lines that differ. */
function reasonOf(errors: readonly { message: string; diff?: string }[] | undefined): string {
  const [error] = errors ?? [];
  if (error === undefined) return "";
  const differing = stripVTControlCharacters(error.diff ?? "")
    .split("\n")
    .filter((line) => /^[-+] /.test(line));
  return `: ${[error.message, ...differing].join(" ").replaceAll(/\s+/g, " ").slice(0, REASON_LENGTH)}`;
}

/** A line for each of the slowest files: seconds that it took, and of the processor where it is known. */
function slowestFiles(testModules: readonly TestModule[]): string[] {
  const secondsOf = (testModule: TestModule): number => {
    const { setupDuration, collectDuration, duration } = testModule.diagnostic();
    return (setupDuration + collectDuration + duration) / 1000;
  };
  const slowest = testModules.toSorted((one, other) => secondsOf(other) - secondsOf(one)).slice(0, SLOWEST);
  return slowest.map((testModule) => {
    const { processorSeconds } = testModule.meta();
    const processor = processorSeconds === undefined ? "" : `, ${processorSeconds.toFixed(1)} s CPU`;
    return `SLOW   ${secondsOf(testModule).toFixed(1)} s${processor}  ${testModule.relativeModuleId}`;
  });
}
