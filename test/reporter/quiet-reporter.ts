// vitest's default reporter with less output: a line per file, and no logs of passing tests. At the end it lists the
// files with the most processor time, and each failed test.
import { Console } from "node:console";
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { SerializedError } from "vitest";
import { DefaultReporter, type TestCase, type TestModule, type TestRunEndReason, type Vitest } from "vitest/node";

/** Durations of faster tests are not printed. */
const SLOW_TEST_MS = 20_000;
/** Number of files in the list at the end of a run. */
const SLOWEST = 20;
/** Characters of the error beside the name of its test: CI may keep only the end of its output. */
const REASON_LENGTH = 600;
/** Characters of each end of a longer message: an error of ffmpeg starts with its arguments, and ends with its reason. */
const MESSAGE_END = 200;

/** The report for `.ci/run`, in the file $COPRA_TEST_REPORT. */
export type RunReport = { readonly passed: number; readonly failed: readonly string[] };

export default class QuietReporter extends DefaultReporter {
  /** Output of workerd since the last file of its projects ended. */
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
   * The pool of the projects `worker` and `worker-soak` writes all output of workerd, even expected errors, to this
   * process's stdout and stderr. Holds it back until the file has passed or failed. vitest itself bypasses this.
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
      // vitest pipes the output of each worker to these streams, and each worker ends its stream.
      return Object.create(stream, { write: { value: write }, end: { value: () => undefined } }) as NodeJS.WriteStream;
    };
    const [outputStream, errorStream] = [unheld(process.stdout), unheld(process.stderr)];
    Object.assign(logger, { outputStream, errorStream, console: new Console(outputStream, errorStream) });
    // If vitest itself dies, this output has its last messages.
    process.once("exit", (code) => {
      if (code !== 0) logger.console.error(this.#held.join(""));
    });
  }
}

/** A file that fails to load has no failed tests, but it has failed. An error outside any test fails the run, too. */
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

/** The first error on a single line: its message, and the lines that differ. */
function reasonOf(errors: readonly { message: string; diff?: string }[] | undefined): string {
  const [error] = errors ?? [];
  if (error === undefined) return "";
  const differing = stripVTControlCharacters(error.diff ?? "")
    .split("\n")
    .filter((line) => /^[-+] /.test(line));
  return `: ${[shortened(error.message), ...differing].join(" ").replaceAll(/\s+/g, " ").slice(0, REASON_LENGTH)}`;
}

const shortened = (message: string): string =>
  message.length > 2 * MESSAGE_END ? `${message.slice(0, MESSAGE_END)} […] ${message.slice(-MESSAGE_END)}` : message;

/**
 * A line for each of the files with the most processor time: its duration and processor time, in seconds. workerd does
 * not report its processor time: its files are ordered by their duration.
 */
function slowestFiles(testModules: readonly TestModule[]): string[] {
  const secondsOf = (testModule: TestModule): number => {
    const { setupDuration, collectDuration, duration } = testModule.diagnostic();
    return (setupDuration + collectDuration + duration) / 1000;
  };
  const costOf = (testModule: TestModule): number => testModule.meta().processorSeconds ?? secondsOf(testModule);
  const slowest = testModules.toSorted((a, b) => costOf(b) - costOf(a)).slice(0, SLOWEST);
  return slowest.map((testModule) => {
    const { processorSeconds } = testModule.meta();
    const processor = processorSeconds === undefined ? "" : `, ${processorSeconds.toFixed(1)} s CPU`;
    return `SLOW   ${secondsOf(testModule).toFixed(1)} s${processor}  ${testModule.relativeModuleId}`;
  });
}
