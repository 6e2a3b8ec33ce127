// What is said of outputs that hardware was to encode and did not.
import type { PlannedOutput } from "#shared/plan/command/output-plan.ts";

/** By output: one sentence for its owner; empty when no output was to be encoded in hardware. */
export function softwareNotes(outputs: readonly PlannedOutput[], busy: boolean): ReadonlyMap<number, string> {
  const why = busy ? "was busy" : "failed";
  return new Map(
    outputs
      .filter(({ inHardware }) => inHardware)
      .map(({ output, encoder }) => [output, `Encoded in software, because the hardware encoder ${encoder} ${why}.`]),
  );
}
