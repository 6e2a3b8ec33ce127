// Conditions of outputs (`if`, api-v2 §6), such as `{{ input.height }} >= 720 AND NOT {{ input.is_audio_only }}`.

/** Value of a literal or a variable. */
export type ConditionValue = number | string | boolean;

export type Operand = { kind: "variable"; name: string } | { kind: "literal"; value: ConditionValue };
export const COMPARISONS = ["<=", ">=", "<>", "!=", "<", ">", "="] as const;
export type Comparison = (typeof COMPARISONS)[number];

export type Condition =
  | { kind: "and" | "or"; left: Condition; right: Condition }
  | { kind: "not"; of: Condition }
  | { kind: "compare"; operator: Comparison; left: Operand; right: Operand }
  | { kind: "value"; of: Operand };

/** Returns the value of a variable for an input; undefined if the input does not have it. */
export type Variables = (name: string) => ConditionValue | undefined;
