// Memory and CPU time of a process and its descendants, from Linux's /proc.
import { readdirSync, readFileSync } from "node:fs";

export type Usage = {
  readonly rssBytes: number;
  /** CPU time since the start of each process. */
  readonly cpuMs: number;
};

/** Unit of times in /proc/<pid>/stat: USER_HZ is 100 on every Linux that Node runs on (proc(5), getconf CLK_TCK). */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;

/** The usage of `pid` and its running descendants. */
export function usageOf(pid: number): Usage {
  const processes = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  const included = new Set([pid]);
  // A process may be listed before its parent.
  for (let before = 0; before < included.size; ) {
    before = included.size;
    for (const { pid: child, parent } of processes) if (included.has(parent)) included.add(child);
  }
  const tree = processes.filter((process) => included.has(process.pid));
  return {
    rssBytes: tree.reduce((sum, { rssBytes }) => sum + rssBytes, 0),
    cpuMs: tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  };
}

function statOf(pid: number): (Usage & { pid: number; parent: number }) | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in parentheses. It may contain any character.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [parent = 0, utime = 0, stime = 0, pages = 0] = [fields[1], fields[11], fields[12], fields[21]];
    return { pid, parent, rssBytes: pages * PAGE_BYTES, cpuMs: (utime + stime) * MS_PER_TICK };
  } catch {
    // The process has exited.
    return null;
  }
}
