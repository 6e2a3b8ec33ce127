// The child processes of a stack, and their record in its home folder.
import { type Child, type ChildPlan, startChild } from "./child.ts";
import { writeProcessRecord } from "./process-record.ts";

/** The children in the order of their starts. */
export class Children {
  readonly home: string;
  readonly #notify: (message: string) => void;
  readonly #children: Child[] = [];
  #allRunning: () => void = () => {};

  constructor(home: string, notify: (message: string) => void) {
    this.home = home;
    this.#notify = notify;
  }

  get all(): readonly Child[] {
    return this.#children;
  }

  start(plan: ChildPlan): Child {
    const child = startChild(plan, () => this.#record(), this.#notify);
    this.#children.push(child);
    this.#record();
    return child;
  }

  /** Restarts children from now on when they exit. Calls `allRunning` whenever all of them run again. */
  watch(allRunning: () => void): void {
    this.#allRunning = allRunning;
    for (const child of this.#children) child.watch();
    this.#record();
  }

  #record(): void {
    const running = this.#children.filter((child) => child.isRunning());
    const pids = running.map((child) => child.pid());
    writeProcessRecord(this.home, pids);
    if (running.length === this.#children.length) this.#allRunning();
  }
}
