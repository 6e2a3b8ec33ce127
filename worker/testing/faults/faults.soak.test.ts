// Each job of the scenarios is run once without a fault, and then again with one fault at each point of its way, or at a
// spread of points. COPRA_FAULTS says which: `long` all of them; `3/30` the third of thirty equal shares, since a process
// gets slower with each job that it has run; a number is the seed of another spread; and the name of a fault, as a failure
// prints it, tries that one alone.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newAccount, newNodeToken } from "../jobs.ts";
import { BLOWS, type Call, watchEverything } from "./fault-points.ts";
import { checkInvariants, lasting } from "./invariants.ts";
import { type Fault, type Run, runJob } from "./run-job.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { MISHAPS } from "./scripted-node.ts";

const wanted = env.FAULTS;
/** Faults of each scenario in the short form, which takes some twenty seconds. */
const SPREAD = 5;

watchEverything();
const parties = { clientKey: (await newAccount()).key, nodeToken: await newNodeToken() };

const nameOf = (scenario: Scenario, fault: Fault): string =>
  `${scenario.name}: ${"strike" in fault ? `${fault.strike.call} ${fault.strike.blow}` : `${fault.step} ${fault.mishap}`}`;

/** Every fault of one run, each by itself. */
function faultsOf({ wire, steps }: Run): Fault[] {
  const strikes = wire.calls.flatMap((call) =>
    BLOWS.filter((blow) => isPossible(call, blow)).map((blow) => ({ strike: { call: call.call, blow } })),
  );
  return [...strikes, ...steps.flatMap((step) => MISHAPS.map((mishap) => ({ step, mishap })))];
}

function isPossible({ call, hasCaller, hasCallee }: Call, blow: (typeof BLOWS)[number]): boolean {
  if (blow.startsWith("caller dies") && !hasCaller) return false;
  if (blow === "callee dies") return hasCallee;
  // An upload whose id nobody has learned is left to the bucket's own lifecycle rules (docs/storage.md).
  return blow === "fails" || blow === "caller dies first" || !call.startsWith("storage POST uploads");
}

/** So many of them, evenly spread, that another seed begins elsewhere. */
function spread(faults: readonly Fault[], count: number, seed: number): Fault[] {
  const step = faults.length / Math.min(count, faults.length);
  const start = (seed * 0.618_033_988_75) % 1;
  return Array.from(
    { length: Math.min(count, faults.length) },
    (_, at) => faults[Math.floor((at + start) * step)],
  ).filter((fault) => fault !== undefined);
}

function chosen(scenario: Scenario, faults: readonly Fault[]): readonly Fault[] {
  const [share = 0, shares] = wanted.split("/").map(Number);
  if (wanted === "long") return faults;
  if (wanted.includes(":")) return faults.filter((fault) => nameOf(scenario, fault) === wanted);
  return shares === undefined ? spread(faults, SPREAD, share) : faults.filter((_, at) => at % shares === share - 1);
}

// What objects log of their troubles is no news here.
beforeAll(() => {
  console.log = () => {};
});

describe.each(SCENARIOS)("the job $name", (scenario) => {
  it("comes to the same end with any one fault on its way, and leaves nothing behind", async () => {
    const calm = await runJob(scenario, null, parties);
    expect(calm.state.status).toBe(scenario.ends);
    await checkInvariants(calm);
    const broken: string[] = [];
    let struck = 0;
    const faults = chosen(scenario, faultsOf(calm));
    for (const fault of faults) {
      try {
        const run = await runJob(scenario, fault, parties);
        struck += run.hasStruck ? 1 : 0;
        expect(lasting(run)).toEqual(lasting(calm));
        await checkInvariants(run);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        console.info(`COPRA_FAULTS='${nameOf(scenario, fault)}' fails: ${why}`);
        broken.push(nameOf(scenario, fault));
      }
    }
    console.info(`${scenario.name}: ${faultsOf(calm).length} faults, ${faults.length} tried, ${struck} struck`);
    expect(broken).toEqual([]);
  }, 3_600_000);
});
