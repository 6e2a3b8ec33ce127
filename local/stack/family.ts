// All child processes of a stack together.
import { type Child, type ChildPlan, startChild } from "./child.ts";
import { recordProcesses } from "./processes.ts";

/** The children in the order of their start, and the record of them in the home. */
export class Family {
  readonly home: string;
  readonly #tell: (words: string) => void;
  readonly #members: Child[] = [];
  #changed: () => void = () => {};

  constructor(home: string, tell: (words: string) => void) {
    this.home = home;
    this.#tell = tell;
  }

  get members(): readonly Child[] {
    return this.#members;
  }

  start(plan: ChildPlan): Child {
    const child = startChild(plan, () => this.#record(), this.#tell);
    this.#members.push(child);
    this.#record();
    return child;
  }

  /** From now on who dies is started again; `changed` is called whenever all are alive again. */
  watch(changed: () => void): void {
    this.#changed = changed;
    for (const child of this.#members) child.watch();
    this.#record();
  }

  #record(): void {
    const alive = this.#members.filter((child) => child.lives());
    recordProcesses(
      this.home,
      alive.map((child) => child.pid()),
    );
    if (alive.length === this.#members.length) this.#changed();
  }
}
