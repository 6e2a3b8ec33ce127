import { expect, it } from "vitest";
import { EMPTY_TURN, type Turn, type TurnAnswer } from "../../rpc/turn.ts";
import { JobTurns } from "./job-turns.ts";

const wants = (nodeId: string) => ({ want: [{ nodeId, session: "s", slotClass: "encode" as const, max: 1 }] });

it("runs a single turn of a job at a time, and sends later parts with the next turn", async () => {
  const calls: { jobId: string; turn: Turn; answer: (answer: TurnAnswer | null) => void }[] = [];
  const turns = new JobTurns((jobId, turn) => new Promise((answer) => calls.push({ jobId, turn, answer })));
  const answerTo = ({ want }: Turn): TurnAnswer => ({
    accountId: "a",
    acks: [],
    cancel: [],
    watchUntil: 0,
    assigned: want.map(({ nodeId }) => [{ lease: nodeId } as never]),
  });
  const step = () => new Promise((resolve) => setTimeout(resolve, 0));
  const first = turns.exchange("one", wants("n1"));
  const other = turns.exchange("two", { alive: [] });
  await step();
  const later = ["n2", "n3"].map((nodeId) => turns.exchange("one", wants(nodeId)));
  const lost = turns.exchange("one", { lost: [{ session: "s", hasEnded: false }] });
  await step();
  expect(calls.map(({ jobId }) => jobId)).toEqual(["one", "two"]);
  calls[1]?.answer(null);
  expect(await other).toBeNull();
  calls[0]?.answer(answerTo(calls[0].turn));
  expect((await first)?.assigned).toEqual([[{ lease: "n1" }]]);
  await step();
  const [, , second] = calls;
  expect(second?.turn).toEqual({
    ...EMPTY_TURN,
    want: [wants("n2"), wants("n3")].flatMap(({ want }) => want),
    lost: [{ session: "s", hasEnded: false }],
  });
  if (second) second.answer(answerTo(second.turn));
  expect((await Promise.all(later)).map((answer) => answer?.assigned)).toEqual([
    [[{ lease: "n2" }]],
    [[{ lease: "n3" }]],
  ]);
  expect((await lost)?.assigned).toEqual([]);
  expect(calls).toHaveLength(3);
});
