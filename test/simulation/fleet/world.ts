// The state of a simulation run.
import type { SimulatedNode } from "../node.ts";
import type { VirtualTime } from "../platform/virtual-time.ts";
import type { Service } from "../service.ts";
import type { Workload } from "../work.ts";
import type { Observations } from "./observations.ts";
import type { Scenario } from "./scenario.ts";

export type World = {
  readonly scenario: Scenario;
  readonly service: Service;
  readonly time: VirtualTime;
  readonly observations: Observations;
  readonly nodes: SimulatedNode[];
  /** Starts another node; its number decides its region. */
  readonly addNode: (number: number) => Promise<SimulatedNode>;
  readonly submit: (account: number, changes?: Partial<Workload>) => Promise<void>;
  /** Figures about the fault, for the report. */
  readonly notes: Map<string, number>;
};
