import { describe, expect, it } from "vitest";
import type { Advertised, HubBinding, SentOffer } from "../../rpc/hub.ts";
import { advertiseTo } from "./advertise-calls.ts";

const JOB = "AAAAAAAAAAAAAA";
const POOL = "default";
const PREFER_UNTIL = 2000;
const offer = (count: number, prefer: string | null = null): SentOffer => ({
  ...{ jobId: JOB, accountId: "a", slotClass: "encode", count, since: 0, prefer, preferUntil: PREFER_UNTIL },
  ...{ avoid: [], avoidUntil: 0 },
});
const BUSY: Advertised = { waitingFor: null, taken: [0] };
const MISSING: Advertised = { waitingFor: "a node with libsvtav1 in pool default", taken: [0] };
const takes = (count: number): Advertised => ({ waitingFor: null, taken: [count] });

/** Hubs that give these answers, in the order in which they are asked; an error: not reachable. */
function hubs(count: number, answers: readonly (Advertised | Error)[]) {
  const asked: string[] = [];
  const byName = (name: string) => ({
    advertise: async ([sent]: SentOffer[]) => {
      const answer = answers[asked.length] ?? BUSY;
      const notBefore = sent?.notBefore ? ` from ${sent.notBefore}` : "";
      asked.push(`${name.split(":")[2]} ×${sent?.count}${notBefore}`);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const env = { HUBS: `${POOL}*${count}`, HUB: { getByName: byName } } as unknown as HubBinding;
  return { env, asked };
}

/** Rendezvous hashing of the job over four hubs. */
const job = { pool: POOL, jobId: JOB, sourceHub: null, isLate: false };
const [FIRST, SECOND, THIRD, FOURTH] = await orderOf(4);

async function orderOf(count: number): Promise<string[]> {
  const { env, asked } = hubs(count, []);
  await advertiseTo(env, { ...job, isLate: true }, [offer(1)]);
  return asked.map((text) => text.split(" ")[0] ?? "");
}

describe("a job advertises", () => {
  const down = new Error("down");
  const rows: [string, (Advertised | Error)[], string[]][] = [
    ["to one hub, if free nodes of it get all", [takes(4)], [`${FIRST} ×4`]],
    ["what is left to a second one", [takes(1)], [`${FIRST} ×4`, `${SECOND} ×3`]],
    [
      "to all, if the two know no node that fits",
      [MISSING, MISSING],
      [FIRST, SECOND, THIRD, FOURTH].map((n) => `${n} ×4`),
    ],
    ["to two, if the second knows one", [MISSING, BUSY], [`${FIRST} ×4`, `${SECOND} ×4`]],
    ["to the second, if the first is not reachable", [down, takes(4)], [`${FIRST} ×4`, `${SECOND} ×4`]],
    [
      "to a hub that does not say what it took, and a second one",
      [{ waitingFor: null }],
      [`${FIRST} ×4`, `${SECOND} ×4`],
    ],
  ];
  it.each(rows)("%s", async (_, answers, expected) => {
    const { env, asked } = hubs(4, answers);
    await advertiseTo(env, job, [offer(4)]);
    expect(asked).toEqual(expected);
  });

  it("to all, if its work has waited", async () => {
    const { env, asked } = hubs(4, [takes(1)]);
    await advertiseTo(env, { ...job, isLate: true }, [offer(4)]);
    expect(asked).toEqual([`${FIRST} ×4`, `${SECOND} ×3`, `${THIRD} ×3`, `${FOURTH} ×3`]);
  });

  it("first to the hub of the node that has the source, for which the others wait", async () => {
    const sourceHub = `hub:${POOL}:${THIRD}`;
    const { env, asked } = hubs(4, [{ ...BUSY, hasSource: true }]);
    await advertiseTo(env, { ...job, sourceHub }, [offer(1, "node")]);
    expect(asked).toEqual([`${THIRD} ×1`, `${FIRST} ×1 from ${PREFER_UNTIL}`]);
    const without = hubs(4, [BUSY]);
    await advertiseTo(without.env, { ...job, sourceHub }, [offer(1, "node")]);
    expect(without.asked).toEqual([`${THIRD} ×1`, `${FIRST} ×1`]);
  });

  it("again, if tasks are left and a hub was not reachable", async () => {
    await expect(advertiseTo(hubs(4, [down, takes(3)]).env, job, [offer(4)])).rejects.toThrow(/is not reachable/);
    expect(await advertiseTo(hubs(4, [down, takes(4)]).env, job, [offer(4)])).toMatchObject({ waitingFor: null });
  });

  it("reports what is missing only if no hub has it", async () => {
    const { waitingFor } = await advertiseTo(hubs(2, [MISSING, MISSING]).env, job, [offer(1)]);
    expect(waitingFor).toBe(MISSING.waitingFor);
    expect((await advertiseTo(hubs(2, [MISSING, BUSY]).env, job, [offer(1)])).waitingFor).toBeNull();
  });
});
