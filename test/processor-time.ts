// Setup of test files in Node: records the processor time of each file, which the reporter lists.
import { existsSync, readFileSync } from "node:fs";
import { afterAll } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Processor time of the file and of its child processes that have ended, in seconds. */
    processorSeconds?: number;
  }
}

const STAT = "/proc/self/stat";
/** USER_HZ, which is 100 on all Linux platforms (time(7)). */
const TICKS_PER_SECOND = 100;

/** proc(5): utime, stime, cutime and cstime are the fields 14 to 17; the name before them may contain spaces. */
function processorSeconds(): number {
  if (!existsSync(STAT)) return process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const fields = readFileSync(STAT, "utf8").replace(/^.*\)/s, "").trim().split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
}

const before = processorSeconds();
// biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of fixtures from the pattern.
afterAll(({}, suite) => {
  suite.file.meta.processorSeconds = processorSeconds() - before;
});
