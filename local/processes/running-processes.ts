// The running processes of this machine.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

type Running = { readonly parent: number; readonly command: string };

/** Parents and command lines by pid. */
export const runningProcesses = (): ReadonlyMap<number, Running> =>
  existsSync("/proc/self/stat") ? fromProc() : fromPs();

/** For Linux: small images have no `ps`. */
function fromProc(): Map<number, Running> {
  const processes = new Map<number, Running>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      // The second field is the program's name in parentheses, which may contain spaces and parentheses.
      const [, parent] = readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\)/s, "").trim().split(" ");
      processes.set(Number(name), { parent: Number(parent), command });
    } catch {
      // The process has exited.
    }
  }
  return processes;
}

function fromPs(): Map<number, Running> {
  const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,ppid=,command="], { encoding: "utf8" }).split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, pid, parent, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)/.exec(line) ?? [];
      return pid === undefined ? [] : [[Number(pid), { parent: Number(parent), command }]];
    }),
  );
}
