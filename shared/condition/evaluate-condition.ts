// Evaluates a condition for an input.
import type { Comparison, Condition, ConditionValue, Operand, Variables } from "./condition.ts";

/** Evaluates a condition. A comparison with a variable that the input does not have is false. Never throws. */
export function holds(condition: Condition, variables: Variables): boolean {
  const read = (operand: Operand) => (operand.kind === "literal" ? operand.value : variables(operand.name));
  switch (condition.kind) {
    case "and":
      return holds(condition.left, variables) && holds(condition.right, variables);
    case "or":
      return holds(condition.left, variables) || holds(condition.right, variables);
    case "not":
      return !holds(condition.of, variables);
    case "value":
      return isTrue(read(condition.of));
    case "compare":
      return compare(condition.operator, read(condition.left), read(condition.right));
  }
}

const isTrue = (value: ConditionValue | undefined): boolean =>
  value !== undefined && value !== false && value !== 0 && value !== "" && value !== "false" && value !== "0";

function compare(operator: Comparison, left: ConditionValue | undefined, right: ConditionValue | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [a, b] = [asNumber(left), asNumber(right)];
  const order =
    a !== null && b !== null ? a - b : String(left) === String(right) ? 0 : String(left) < String(right) ? -1 : 1;
  const verdicts: Record<Comparison, boolean> = {
    "<": order < 0,
    ">": order > 0,
    "<=": order <= 0,
    ">=": order >= 0,
    "=": order === 0,
    "<>": order !== 0,
    "!=": order !== 0,
  };
  return verdicts[operator];
}

/**
 * Converts a value for comparisons: a numeric string to its number, because ffprobe writes numbers as strings. Booleans
 * become 1 and 0.
 */
function asNumber(value: ConditionValue): number | null {
  if (typeof value !== "string") return Number(value);
  if (value.trim() === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
