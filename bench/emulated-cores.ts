// Runs commands on an emulated machine with more, slower cores than this one has: each thread gets a cgroup of its own
// with a small CPU quota, and all of them together the quota of the machine (cgroup v1, as root).
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const ROOTS = { cpu: "/sys/fs/cgroup/cpu", cpuacct: "/sys/fs/cgroup/cpuacct" } as const;
/** Many times the kernel's tick of 4 ms, which is the shortest slice that a quota gives. */
const PERIOD_US = 80_000;
/** Other programs get nearly nothing beside the emulated machine. */
const SHARES = 200_000;
/** How often new threads get their own group. */
const POLL_MS = 20;

export type Cost = { readonly wall: number; readonly cpu: number };

export class EmulatedMachine {
  readonly #name = `copra-cores-${process.pid}`;
  readonly #cpu = join(ROOTS.cpu, this.#name);
  readonly #accounts = join(ROOTS.cpuacct, this.#name);
  readonly #core: number;
  /** The group of each thread, and groups without one. */
  readonly #groups = new Map<string, string>();
  readonly #free: string[] = [];
  #count = 0;
  #isOpen = true;
  readonly #watching: Promise<void>;

  /** `core`: how much of one of this machine's cores an emulated core is. */
  constructor(cores: number, core: number) {
    this.#core = core;
    for (const path of [this.#cpu, this.#accounts]) mkdirSync(path, { recursive: true });
    writeFileSync(join(this.#cpu, "cpu.shares"), String(SHARES));
    limit(this.#cpu, cores * core);
    this.#watching = this.#watch();
  }

  /** Runs a command in a folder. Rejects when it fails. */
  async run(path: string, argv: readonly string[], cwd: string): Promise<void> {
    // The shell enters the groups, and then becomes the command.
    const enter = [this.#cpu, this.#accounts].map((group) => `echo $$ > ${group}/cgroup.procs`).join("; ");
    const child = spawn("sh", ["-c", `${enter}; exec "$@"`, "sh", path, ...argv], {
      cwd,
      stdio: ["ignore", "ignore", "inherit"],
    });
    if ((await ended(child)) !== 0) throw new Error(`${path} failed`);
  }

  /** Seconds of work, in seconds of an emulated core. */
  async cost(work: () => Promise<void>): Promise<Cost> {
    const [startedAt, before] = [performance.now(), this.#cpuSeconds()];
    await work();
    const wall = (performance.now() - startedAt) / 1000;
    return { wall, cpu: (this.#cpuSeconds() - before) / this.#core };
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#watching;
    for (const group of [...this.#groups.values(), ...this.#free, this.#cpu, this.#accounts]) rmdirSync(group);
  }

  #cpuSeconds(): number {
    return Number(readFileSync(join(this.#accounts, "cpuacct.usage"), "utf8")) / 1e9;
  }

  async #watch(): Promise<void> {
    for (; this.#isOpen || this.#threads().length > 0; await sleep(POLL_MS)) {
      const threads = new Set(this.#threads());
      for (const [thread, group] of this.#groups) {
        if (threads.has(thread)) continue;
        this.#groups.delete(thread);
        this.#free.push(group);
      }
      for (const thread of threads) if (!this.#groups.has(thread)) this.#place(thread);
    }
    await sleep(10 * POLL_MS);
  }

  #threads(): string[] {
    return readFileSync(join(this.#accounts, "tasks"), "utf8").split("\n").filter(Boolean);
  }

  #place(thread: string): void {
    const group = this.#free.pop() ?? this.#newGroup();
    try {
      writeFileSync(join(group, "tasks"), thread);
      this.#groups.set(thread, group);
    } catch {
      // The thread has ended meanwhile.
      this.#free.push(group);
    }
  }

  #newGroup(): string {
    this.#count += 1;
    const group = join(this.#cpu, String(this.#count));
    mkdirSync(group);
    limit(group, this.#core);
    return group;
  }
}

/** Whether this machine can emulate: root and the cgroups of version 1. */
export const canEmulate = (): boolean => process.getuid?.() === 0 && Object.values(ROOTS).every(existsSync);

function limit(group: string, cores: number): void {
  writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
  writeFileSync(join(group, "cpu.cfs_quota_us"), String(Math.round(PERIOD_US * cores)));
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => void child.once("error", reject).once("close", resolve));
