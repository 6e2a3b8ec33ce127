// Runs each job of the scenarios without a fault, and then again with a single fault at each fault point, or at a
// selection of them. COPRA_FAULTS selects. `long`: all faults. `3/30`: the third of thirty equal shares, because a
// process gets slower with each job. A number: the seed of another selection. The name of a fault, as a failing test
// prints it: only this fault.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { newAccount, newNodeToken } from "../jobs.ts";
import { CALL_FAULTS, type Call, watchEverything } from "./fault-points.ts";
import { checkInvariants, lasting } from "./invariants.ts";
import { type Fault, type Run, runJob } from "./run-job.ts";
import { SCENARIOS, type Scenario } from "./scenarios.ts";
import { STEP_FAULTS } from "./scripted-lease.ts";

const wanted = env.FAULTS;
/** Number of faults per scenario in the short form, which takes about twenty seconds. */
const SPREAD = 5;

watchEverything();
const account = await newAccount();
const parties = { accountId: account.id, clientKey: account.key, nodeToken: await newNodeToken() };

const nameOf = (scenario: Scenario, fault: Fault): string =>
  `${scenario.name}: ${"faultyCall" in fault ? `${fault.faultyCall.call} ${fault.faultyCall.kind}` : `${fault.step} ${fault.kind}`}`;

/** All possible faults of a run. */
function faultsOf({ wire, steps }: Run): Fault[] {
  const faultyCalls = wire.calls.flatMap((call) =>
    CALL_FAULTS.filter((kind) => isPossible(call, kind)).map((kind) => ({ faultyCall: { call: call.call, kind } })),
  );
  return [...faultyCalls, ...steps.flatMap((step) => STEP_FAULTS.map((kind) => ({ step, kind })))];
}

function isPossible({ call, hasCaller, hasCallee }: Call, kind: (typeof CALL_FAULTS)[number]): boolean {
  if (kind.startsWith("caller dies") && !hasCaller) return false;
  if (kind === "callee dies") return hasCallee;
  // If the id of an upload is lost, the bucket's lifecycle rules remove the upload (docs/storage.md).
  return kind === "fails" || kind === "caller dies first" || !call.startsWith("storage POST uploads");
}

/** Selects faults at equal distances. The seed sets the first fault. */
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

// The log lines about injected faults are expected.
beforeAll(() => {
  console.log = () => {};
});

describe.each(SCENARIOS)("the job $name", (scenario) => {
  it("ends the same with any single fault, and leaves nothing behind", async () => {
    const calm = await runJob(scenario, null, parties);
    expect(calm.state.status).toBe(scenario.ends);
    await checkInvariants(calm);
    const broken: string[] = [];
    let injected = 0;
    const faults = chosen(scenario, faultsOf(calm));
    for (const fault of faults) {
      try {
        const run = await runJob(scenario, fault, parties);
        injected += run.isInjected ? 1 : 0;
        expect(lasting(run)).toEqual(lasting(calm));
        await checkInvariants(run);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        console.info(`COPRA_FAULTS='${nameOf(scenario, fault)}' fails: ${reason}`);
        broken.push(nameOf(scenario, fault));
      }
    }
    console.info(`${scenario.name}: ${faultsOf(calm).length} faults, ${faults.length} run, ${injected} injected`);
    expect(broken).toEqual([]);
  }, 3_600_000);
});
