// Memory and number of the programs that a test's process started, from /proc.
import { readdir, readFile } from "node:fs/promises";

/** Programs run for at least about 100 ms. The kernel keeps the peak memory of each process (VmHWM, proc(5)). */
const LOOK_EVERY_MS = 50;

export type ChildrenWatch = {
  /** The peak memory of the largest program, in MiB. */
  peakMiB(): number;
  stop(): void;
};

/** Watches programs of this name that this process starts. */
export function watchChildren(name: RegExp): ChildrenWatch {
  let peak = 0;
  const look = async (): Promise<void> => {
    for (const { memoryMiB } of await childrenNamed(name)) peak = Math.max(peak, memoryMiB);
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return { peakMiB: () => Math.round(peak), stop: () => clearInterval(timer) };
}

type Child = { readonly pid: string; readonly name: string; readonly command: string; readonly memoryMiB: number };

/** Living descendants of a process (default: this process) with this name. Empty on machines without `/proc`. */
export async function childrenNamed(name: RegExp, of: number | "self" = "self"): Promise<Child[]> {
  const pids = await descendants(String(of));
  const children = await Promise.all(
    pids.map(async (pid) => parse(pid, await textOf(`/proc/${pid}/status`), await textOf(`/proc/${pid}/cmdline`))),
  );
  return children.flatMap((child) => (child && name.test(child.name) ? [child] : []));
}

/** Includes grandchildren: in a sandbox, tools are children of its shell. */
async function descendants(of: string): Promise<string[]> {
  const threads = await readdir(`/proc/${of}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => textOf(`/proc/${of}/task/${thread}/children`)));
  const pids = lists.flatMap((list) => list.split(" ").filter((pid) => pid !== ""));
  return [...pids, ...(await Promise.all(pids.map(descendants))).flat()];
}

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

/** Null for ended processes and for zombies. */
function parse(pid: string, status: string, command: string): Child | null {
  const field = (name: string): string => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1] ?? "";
  if (status === "" || field("State") === "Z") return null;
  return { pid, name: field("Name"), command, memoryMiB: Number(field("VmHWM") || 0) / 1024 };
}
