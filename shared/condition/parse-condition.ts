// Parses the text of a condition.
import { nearest } from "../nearest.ts";
import { err, ok, type Result } from "../result.ts";
import { COMPARISONS, type Comparison, type Condition, type ConditionValue, type Operand } from "./condition.ts";
import { CONDITION_VARIABLES } from "./condition-variables.ts";

/** Limit above the nesting of real conditions. Prevents hostile text from exhausting the stack. */
const MAX_DEPTH = 50;
const MAX_LENGTH = 2000;

/**
 * Parses a condition. The error states the mistake, the correction and the column. `isKnown` returns true for existing
 * variables.
 */
export function parseCondition(text: string, isKnown: (name: string) => boolean): Result<Condition, string> {
  try {
    if (text.length > MAX_LENGTH) throw new ConditionError(`the condition is longer than ${MAX_LENGTH} characters`, 0);
    const tokens = tokenize(text, isKnown);
    const parser = new Parser(tokens, text.length);
    return ok(parser.parse());
  } catch (error) {
    if (!(error instanceof ConditionError)) throw error;
    return err(`${error.message} (column ${error.at + 1} of \`${text.slice(0, 200)}\`)`);
  }
}

class ConditionError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

// ── Tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────────

type Token =
  | { kind: "operand"; operand: Operand; at: number }
  | { kind: "comparison"; operator: Comparison; at: number }
  | { kind: "and" | "or" | "not" | "(" | ")"; at: number };

/** Each alternative is a kind of token. They are tried in this order at every position. */
const TOKEN =
  /(?<space>\s+)|\{\{\s*(?<variable>[\w.-]+)\s*\}\}|(?<number>-?\d+(?:\.\d+)?)(?![\w.])|"(?<double>[^"]*)"|'(?<single>[^']*)'|(?<comparison><=|>=|<>|!=|<|>|=)|(?<bracket>[()])|(?<name>[A-Za-z_]+)/y;

function tokenize(text: string, isKnown: (name: string) => boolean): Token[] {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  for (let at = 0; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const groups = pattern.exec(text)?.groups;
    const hint = hintAt(text, at, groups !== undefined);
    if (hint !== null) throw new ConditionError(hint, at);
    if (!groups) throw new ConditionError(`\`${text.slice(at, at + 12)}\` is not valid here`, at);
    const token = groups.space === undefined ? tokenOf(groups, at, isKnown) : null;
    if (token) tokens.push(token);
  }
  return tokens;
}

function tokenOf(groups: Record<string, string | undefined>, at: number, isKnown: (name: string) => boolean): Token {
  const literal = (value: ConditionValue): Token => ({ kind: "operand", operand: { kind: "literal", value }, at });
  const { variable, number, bracket, comparison, name } = groups;
  const quoted = groups.double ?? groups.single;
  if (variable !== undefined) {
    if (!isKnown(variable)) {
      throw new ConditionError(`the variable \`${variable}\` does not exist${suggestVariable(variable)}`, at);
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
  const hint = unbracedVariable(name ?? "");
  throw new ConditionError(hint ?? `\`${name}\` is not an operator; put strings in quotes and variables in {{ }}`, at);
}

// ── Grammar: or → and → not → comparison ─────────────────────────────────────────────────────────────────────────

class Parser {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  parse(): Condition {
    const condition = this.#or();
    const rest = this.#tokens[this.#next];
    if (rest) throw new ConditionError("an operator such as AND is missing here", rest.at);
    return condition;
  }

  #take<Kind extends Token["kind"]>(kind: Kind): Extract<Token, { kind: Kind }> | null {
    const token = this.#tokens[this.#next];
    if (token?.kind !== kind) return null;
    this.#next += 1;
    return token as Extract<Token, { kind: Kind }>;
  }

  get #at(): number {
    return this.#tokens[this.#next]?.at ?? this.#end;
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
    if (this.#depth > MAX_DEPTH) throw new ConditionError("the condition is nested too deeply", this.#at);
    const condition: Condition = this.#take("not") ? { kind: "not", of: this.#not() } : this.#comparison();
    this.#depth -= 1;
    return condition;
  }

  #comparison(): Condition {
    if (this.#take("(")) {
      const condition = this.#or();
      if (!this.#take(")")) throw new ConditionError("a closing parenthesis is missing here", this.#at);
      return condition;
    }
    const left = this.#operand();
    const comparison = this.#take("comparison");
    if (!comparison) return { kind: "value", of: left };
    return { kind: "compare", operator: comparison.operator, left, right: this.#operand() };
  }

  #operand(): Operand {
    const token = this.#take("operand");
    if (!token) throw new ConditionError("a variable, number or string is missing here", this.#at);
    return token.operand;
  }
}

/** Names for hints about common mistakes: operators of programming languages, wrong braces, variables of API v1. */
const NAMES = CONDITION_VARIABLES.map((name) => `input.${name}`);

type Mistake = readonly [RegExp, (match: RegExpExecArray) => string];

/** No valid token starts with any of these. */
const NEVER_VALID: readonly Mistake[] = [
  [/===?/y, ([text]) => `write \`=\` instead of \`${text}\``],
  [/!==/y, ([text]) => `write \`!=\` instead of \`${text}\``],
  [/=>|≥/y, ([text]) => `write \`>=\` instead of \`${text}\``],
  [/=<|≤/y, ([text]) => `write \`<=\` instead of \`${text}\``],
  [/≠|<>=|!<|!>/y, ([text]) => `write \`!=\` instead of \`${text}\``],
  [/&&?/y, ([text]) => `write \`AND\` instead of \`${text}\``],
  [/\|\|?/y, ([text]) => `write \`OR\` instead of \`${text}\``],
  [/!(?!=)/y, () => "write `NOT` instead of `!`"],
  [/[“”„‘’‚«»]/y, ([text]) => `write a straight quote, \`'\` or \`"\`, instead of \`${text}\``],
  [/\$\{?(?:source_)?(\w+)\}?/y, ([text, name = ""]) => `\`${text}\` is API v1 syntax; write ${inBraces(name)}`],
  [/\binput\.[\w.-]+/y, ([text]) => `write ${inBraces(text)} instead of \`${text}\``],
];

/** Mistakes where no valid token matches. */
const UNMATCHED: readonly Mistake[] = [
  [
    /\{+\s*([\w.-]+)\s*\}*/y,
    ([text, name = ""]) => `write ${inBraces(name)} (two braces on each side) instead of \`${text}\``,
  ],
  [/["']/y, () => "this quote is not closed"],
];

/**
 * Returns the correction for the text at a position; null without a hint. `matches`: true if a valid token matches
 * there.
 */
function hintAt(text: string, at: number, matches: boolean): string | null {
  for (const [pattern, hint] of matches ? NEVER_VALID : [...NEVER_VALID, ...UNMATCHED]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) return hint(match);
  }
  return null;
}

/** Returns a suggestion for an unknown variable; empty if no known variable is similar. */
function suggestVariable(name: string): string {
  const meant = variableOf(name);
  return meant === null ? "" : `; did you mean \`{{ ${meant} }}\`?`;
}

/** Returns a hint for a variable without braces; null if the name is not a variable. */
const unbracedVariable = (name: string): string | null =>
  NAMES.includes(`input.${name.toLowerCase()}`) ? `write ${inBraces(name)} instead of \`${name}\`` : null;

const inBraces = (name: string): string => `\`{{ ${variableOf(name) ?? "input.width"} }}\``;

function variableOf(name: string): string | null {
  const full = name.toLowerCase().startsWith("input.") ? name : `input.${name}`;
  return /^input\.metadata\./.test(full) ? full : nearest(full, NAMES);
}
