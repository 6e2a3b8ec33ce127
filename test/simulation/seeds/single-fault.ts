// Jobs of each kind, each run with a single fault: any request of the run, and any fate of this request.
import { FAULTY_FATES, type FaultyFate, SingleFault } from "../platform/network.ts";
import { jobOf, KINDS, type PlannedJob, SIZES } from "./jobs.ts";
import { type Report, runPlan } from "./simulated-run.ts";

const CANCELLED = "cancelled";
export const SCENARIOS: readonly string[] = [...Object.keys(KINDS), CANCELLED];
/** Requests later than this after the job's submission concern no job. */
const FAULTY_MS = 150_000;
const TIMES = { fetchMs: 2000, encodeMs: 40_000, chunkMs: 20_000, joinMs: 10_000, videoBytes: Math.max(...SIZES) };

export type Fault = { readonly scenario: string; readonly request: number; readonly fate: FaultyFate };
/** The name with which `run-faults.ts --only` repeats a fault. */
export const nameOf = ({ scenario, request, fate }: Fault): string => `${scenario}: ${request} ${fate}`;

function jobIn(scenario: string): PlannedJob {
  if (scenario !== CANCELLED) return jobOf(scenario, 0, TIMES);
  const job = jobOf("many outputs", 0, TIMES);
  return { ...job, cancelledAfterMs: 20_000, endings: ["job.aborted"] };
}

async function runWith(scenario: string, network: SingleFault, root: string): Promise<Report> {
  const start: Parameters<typeof runPlan>[0]["start"] = (run) => {
    network.isArmed = true;
    run.faults = network.hasFault ? 1 : 0;
    run.time.after(FAULTY_MS, () => {
      network.isArmed = false;
    });
  };
  return runPlan({ seed: 1, network, random: () => 0.5, jobs: [jobIn(scenario)], nodes: 2, start }, root);
}

/** All faults of a scenario, in the order of its requests. Throws if the scenario breaks a promise without a fault. */
export async function faultsOf(scenario: string, root: string): Promise<Fault[]> {
  const network = new SingleFault(null);
  const { violations } = await runWith(scenario, network, root);
  if (violations.length > 0) throw new Error(`${scenario} without a fault: ${violations.join("; ")}`);
  return network.ways.flatMap((way, request) => FAULTY_FATES[way].map((fate) => ({ scenario, request, fate })));
}

/** Runs a scenario with a fault; returns the violated invariants. */
export async function violationsWith({ scenario, ...fault }: Fault, root: string): Promise<readonly string[]> {
  return (await runWith(scenario, new SingleFault(fault), root)).violations;
}
