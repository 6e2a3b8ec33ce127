// The processes that a process has started, and those that they have started.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

type Parents = ReadonlyMap<number, number>;

/** The running descendants of a process, in no particular order. */
export function descendantsOf(pid: number): number[] {
  const parents = existsSync("/proc/self/stat") ? fromProc() : fromPs();
  const found = new Set([pid]);
  // A process may be listed before its parent.
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const [child, parent] of parents) if (found.has(parent)) found.add(child);
  }
  return [...found].filter((one) => one !== pid);
}

/** Linux; small images have no `ps`. */
function fromProc(): Parents {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      // The second field is the program's name in parentheses, which may contain spaces and parentheses.
      const [, parent] = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
      parents.set(Number(name), Number(parent));
    } catch {
      // It has exited.
    }
  }
  return parents;
}

const fromPs = (): Parents =>
  new Map(
    execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number))
      .map(([pid = 0, parent = 0]) => [pid, parent]),
  );
