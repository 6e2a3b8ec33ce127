// Conditions of outputs (`if`, api-v2 §6): text → tree → truth. `{{ input.height }} >= 720 AND NOT {{ input.is_audio_only }}`
import { bareVariable, meantByVariable, slipAt } from "./condition-hints.ts";

export type ConditionValue = number | string | boolean;

type Operand = { kind: "variable"; name: string } | { kind: "literal"; value: ConditionValue };
const COMPARISONS = ["<=", ">=", "<>", "!=", "<", ">", "="] as const;
type Comparison = (typeof COMPARISONS)[number];

export type Condition =
  | { kind: "and" | "or"; left: Condition; right: Condition }
  | { kind: "not"; of: Condition }
  | { kind: "compare"; operator: Comparison; left: Operand; right: Operand }
  | { kind: "value"; of: Operand };

export type ConditionResult = { ok: true; condition: Condition } | { ok: false; message: string };

/** What a variable is for the input at hand; undefined when the input lacks it. */
export type Variables = (name: string) => ConditionValue | undefined;

/** Deeper nesting than anyone writes; keeps hostile text from exhausting the stack. */
const MAX_DEPTH = 50;
const MAX_LENGTH = 2000;

/** Parses a condition. `isKnown` says whether a variable of that name can exist. */
export function parseCondition(text: string, isKnown: (name: string) => boolean): ConditionResult {
  try {
    if (text.length > MAX_LENGTH) throw new ConditionError(`is longer than ${MAX_LENGTH} characters`, 0);
    const tokens = tokenize(text, isKnown);
    const parser = new Parser(tokens, text.length);
    return { ok: true, condition: parser.parse() };
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return {
      ok: false,
      message: `${error.message}${error.message.endsWith("?") ? " It is" : ","} at column ${error.at + 1} of \`${text.slice(0, 200)}\``,
    };
  }
}

class ConditionError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

// ── Words ──────────────────────────────────────────────────────────────────────────────────────────────────────────

type Word =
  | { kind: "operand"; operand: Operand; at: number }
  | { kind: "comparison"; operator: Comparison; at: number }
  | { kind: "and" | "or" | "not" | "(" | ")"; at: number };

/** Each alternative is one kind of word; tried in this order at every place. */
const WORD =
  /(?<space>\s+)|\{\{\s*(?<variable>[\w.-]+)\s*\}\}|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<comparison><=|>=|<>|!=|<|>|=)|(?<bracket>[()])|(?<name>[A-Za-z_]+)/y;

function tokenize(text: string, isKnown: (name: string) => boolean): Word[] {
  const words: Word[] = [];
  const pattern = new RegExp(WORD);
  for (let at = 0; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const groups = pattern.exec(text)?.groups;
    const slip = slipAt(text, at, groups !== undefined);
    if (slip !== null) throw new ConditionError(slip, at);
    if (!groups) throw new ConditionError(`\`${text.slice(at, at + 12)}\` is not understood`, at);
    const word = groups.space === undefined ? wordOf(groups, at, isKnown) : null;
    if (word) words.push(word);
  }
  return words;
}

function wordOf(groups: Record<string, string | undefined>, at: number, isKnown: (name: string) => boolean): Word {
  const literal = (value: ConditionValue): Word => ({ kind: "operand", operand: { kind: "literal", value }, at });
  const { variable, number, bracket, comparison, name } = groups;
  const quoted = groups.double ?? groups.single;
  if (variable !== undefined) {
    if (!isKnown(variable)) {
      throw new ConditionError(`there is no variable \`${variable}\`${meantByVariable(variable)}`, at);
    }
    return { kind: "operand", operand: { kind: "variable", name: variable }, at };
  }
  if (number !== undefined) return literal(Number(number));
  if (quoted !== undefined) return literal(quoted);
  if (bracket === "(" || bracket === ")") return { kind: bracket, at };
  const operator = COMPARISONS.find((known) => known === comparison);
  if (operator) return { kind: "comparison", operator, at };
  const lower = name?.toLowerCase();
  if (lower === "and" || lower === "or" || lower === "not") return { kind: lower, at };
  if (lower === "true" || lower === "false") return literal(lower === "true");
  const bare = bareVariable(name ?? "");
  throw new ConditionError(bare ?? `\`${name}\` is no operator; strings stand in quotes, variables in {{ }}`, at);
}

// ── Sentences: or → and → not → comparison ─────────────────────────────────────────────────────────────────────────

class Parser {
  readonly #words: readonly Word[];
  readonly #end: number;
  #next = 0;
  #depth = 0;

  constructor(words: readonly Word[], end: number) {
    this.#words = words;
    this.#end = end;
  }

  parse(): Condition {
    const condition = this.#or();
    const rest = this.#words[this.#next];
    if (rest) throw new ConditionError("an operator such as AND is missing", rest.at);
    return condition;
  }

  #take<Kind extends Word["kind"]>(kind: Kind): Extract<Word, { kind: Kind }> | null {
    const word = this.#words[this.#next];
    if (word?.kind !== kind) return null;
    this.#next += 1;
    return word as Extract<Word, { kind: Kind }>;
  }

  get #at(): number {
    return this.#words[this.#next]?.at ?? this.#end;
  }

  #or(): Condition {
    let left = this.#and();
    while (this.#take("or")) left = { kind: "or", left, right: this.#and() };
    return left;
  }

  #and(): Condition {
    let left = this.#not();
    while (this.#take("and")) left = { kind: "and", left, right: this.#not() };
    return left;
  }

  #not(): Condition {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new ConditionError("is nested too deeply", this.#at);
    const condition: Condition = this.#take("not") ? { kind: "not", of: this.#not() } : this.#comparison();
    this.#depth -= 1;
    return condition;
  }

  #comparison(): Condition {
    if (this.#take("(")) {
      const condition = this.#or();
      if (!this.#take(")")) throw new ConditionError("a closing bracket is missing", this.#at);
      return condition;
    }
    const left = this.#operand();
    const comparison = this.#take("comparison");
    if (!comparison) return { kind: "value", of: left };
    return { kind: "compare", operator: comparison.operator, left, right: this.#operand() };
  }

  #operand(): Operand {
    const word = this.#take("operand");
    if (!word) throw new ConditionError("a variable, number or string is missing", this.#at);
    return word.operand;
  }
}

// ── Truth ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether a condition holds. A comparison with something that the input lacks is false; nothing throws. */
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

/** ffprobe writes numbers as strings: what looks like a number compares as one. Booleans are 1 and 0. */
function asNumber(value: ConditionValue): number | null {
  if (typeof value !== "string") return Number(value);
  if (value.trim() === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}
