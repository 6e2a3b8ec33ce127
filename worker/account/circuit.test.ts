import { expect, it } from "vitest";
import { admit, afterDelivery, type Circuit } from "./circuit.ts";

const MINUTE = 60_000;
const failed = (times: number, now: number, before: Circuit | null = null): Circuit | null => {
  let circuit = before;
  for (let at = 0; at < times; at++) circuit = afterDelivery(circuit, false, now);
  return circuit;
};

it("a circuit opens after ten consecutive failures, and closes after a success", () => {
  expect(admit(failed(9, 0), 0).go).toBe(true);
  expect(admit(failed(10, 0), 0)).toEqual({ go: false, at: MINUTE });
  expect(admit(failed(9, 0, afterDelivery(failed(9, 0), true, 0)), 0).go).toBe(true);
  expect(afterDelivery(failed(10, 0), true, 1)).toBeNull();
});

it("an open circuit allows a single trial at a time; each failed trial doubles the pause, up to an hour", () => {
  let circuit = failed(10, 0);
  let now = 0;
  const pauses: number[] = [];
  for (let round = 0; round < 8; round++) {
    const closed = admit(circuit, now);
    if (closed.go) throw new Error("It should wait");
    pauses.push((closed.at - now) / MINUTE);
    now = closed.at;
    const trial = admit(circuit, now);
    if (!trial.go) throw new Error("It should be tried");
    expect(admit(trial.circuit, now + 1).go).toBe(false);
    // A trial that is lost makes room for the next.
    expect(admit(trial.circuit, now + 20_000).go).toBe(true);
    circuit = afterDelivery(trial.circuit, false, now);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
});

it("a circuit does not count failures of deliveries that were sent before it opened", () => {
  expect(failed(30, 0)).toEqual(failed(10, 0));
});
