// Finds regular expressions that can take more than linear time: the author of a text could block a process with it.
//
// Each literal runs in a backtracking matcher that counts its steps, on texts that repeat matches of its quantifiers.
// Steps are the same on every machine. recheck gives exact results, in ten minutes for all of the code (4.5.0,
// 2026-11-26). scslre 0.3.0, the base of eslint-plugin-regexp, misses nested loops such as `(?:<!--.*?-->)*<`.
import { type AST, parseRegExpLiteral } from "@eslint-community/regexpp";
import { parseSync, Visitor } from "oxc-parser";

export type SlowRegex = { readonly file: string; readonly line: number; readonly regex: string; readonly text: string };

/** The literals in a file that take more than linear time, each with a text that proves it. */
export function slowRegexes(file: string, source: string): SlowRegex[] {
  const slow: SlowRegex[] = [];
  new Visitor({
    Literal(node) {
      if (!("regex" in node) || !node.regex) return;
      const regex = `/${node.regex.pattern}/${node.regex.flags}`;
      const text = slowText(regex);
      if (text !== null) slow.push({ file, line: source.slice(0, node.start).split("\n").length, regex, text });
    },
  }).visit(parseSync(file, source).program);
  return slow;
}

/** Repetitions of a text, and the factor between the steps of both from which an expression is not linear. */
const [FEW, MANY, SUPER_LINEAR] = [20, 40, 3];
/** Longer texts would overflow the stack of the matcher, whose depth grows with the text. */
const MAX_PUMP_CHARS = 24;
/** A linear expression takes fewer steps for such a text. */
const MAX_STEPS = 200_000;
const MAX_TEXTS = 1000;

/** A text whose double takes more than three times the steps, shortened; null if none is found. */
export function slowText(regex: string): string | null {
  const ast = parseRegExpLiteral(regex);
  const loops = loopsIn(ast.pattern);
  if (loops.length === 0) return null;
  const matcher = new Matcher(ast);
  for (const { prefix, pump, suffix } of texts(ast, loops)) {
    const steps = (count: number): number => matcher.stepsOf(prefix + pump.repeat(count) + suffix);
    const isSlow = (few: number): boolean => {
      const most = steps(2 * few);
      return most === Infinity || most > SUPER_LINEAR * steps(few);
    };
    // Both, because the first doubling may only exceed a bounded quantifier.
    if (isSlow(FEW) && isSlow(MANY)) return JSON.stringify(`${prefix}${pump} … ${suffix}`);
  }
  return null;
}

type Node = AST.Node;

function childrenOf(node: Node): readonly Node[] {
  if ("alternatives" in node) return node.alternatives;
  if (node.type === "Alternative") return node.elements;
  return node.type === "Quantifier" ? [node.element] : [];
}

const isLoop = (node: Node): node is AST.Quantifier => node.type === "Quantifier" && node.max - node.min >= MANY;

const loopsIn = (node: Node): AST.Quantifier[] => [
  ...(isLoop(node) ? [node] : []),
  ...childrenOf(node).flatMap(loopsIn),
];

/** Texts that repeat a match of a loop, alone or with the text before the loop. */
function* texts(ast: AST.RegExpLiteral, loops: readonly AST.Quantifier[]) {
  const seen = new Set<string>();
  for (const sampler of samplers(ast)) {
    for (const loop of loops) {
      const before = sampler.before(loop);
      const once = sampler.sample(loop.element);
      for (const pump of [once, before + once]) {
        for (const prefix of ["", before, `${before}\u0000`]) {
          for (const suffix of ["\u0000", "\u0000\n\u0000", ""]) {
            const key = [prefix, pump, suffix].join("\u0001");
            if (pump === "" || pump.length > MAX_PUMP_CHARS || seen.has(key)) continue;
            if (seen.size >= MAX_TEXTS) return;
            seen.add(key);
            yield { prefix, pump, suffix };
          }
        }
      }
    }
  }
}

/** Characters that classes match, in addition to the expression's own characters. */
const COMMON = [..." \n\ta0_-./:<\"'é"];

/** Samplers that each prefer another character, and take the first, the second or the last alternative. */
function* samplers(ast: AST.RegExpLiteral): Generator<Sampler> {
  const named = [...new Set([...ast.pattern.raw].filter((char) => !/[\\()[\]{}?*+|^$]/.test(char)))];
  const all = [...named, ...COMMON];
  const choices = [
    { minimum: 0, alternative: 0 },
    { minimum: 1, alternative: 0 },
    { minimum: 0, alternative: 1 },
    { minimum: 0, alternative: -1 },
  ];
  for (const choice of choices) for (const preferred of all) yield new Sampler(ast, { ...choice, preferred });
}

type Choice = {
  readonly preferred: string;
  /** The number of repetitions of optional parts. */
  readonly minimum: number;
  /** The index of the chosen alternative. With fewer alternatives, the first is chosen. */
  readonly alternative: number;
};

/** Makes texts that parts of an expression match. */
class Sampler {
  readonly #flags: string;
  readonly #choice: Choice;

  constructor({ flags }: AST.RegExpLiteral, choice: Choice) {
    this.#flags = flags.raw;
    this.#choice = choice;
  }

  /** A text that the nodes before a node match. */
  before(node: Node): string {
    const { parent } = node;
    if (!parent) return "";
    const elements = parent.type === "Alternative" ? parent.elements : [];
    const at = elements.findIndex((element) => element === node);
    return (
      this.before(parent) +
      elements
        .slice(0, Math.max(0, at))
        .map((element) => this.sample(element))
        .join("")
    );
  }

  sample(node: Node): string {
    if (node.type === "Quantifier") {
      const count = Math.min(node.max, Math.max(node.min, this.#choice.minimum));
      return this.sample(node.element).repeat(count);
    }
    if (node.type === "Assertion" || node.type === "Backreference") return "";
    if (node.type === "Alternative") return node.elements.map((element) => this.sample(element)).join("");
    if ("alternatives" in node) {
      const chosen = node.alternatives.at(this.#choice.alternative) ?? node.alternatives[0];
      return chosen ? this.sample(chosen) : "";
    }
    if (node.type === "Character") return String.fromCodePoint(node.value);
    const matches = charTest(node, this.#flags);
    return [this.#choice.preferred, ...COMMON].find(matches) ?? "";
  }
}

/** Returns a test for a node of one character. */
function charTest(node: Node, flags: string): (char: string) => boolean {
  const pattern = new RegExp(`^${node.raw}$`, flags.replaceAll(/[gy]/g, ""));
  const known = new Map<string, boolean>();
  return (char) => {
    const before = known.get(char);
    if (before !== undefined) return before;
    const matches = pattern.test(char);
    known.set(char, matches);
    return matches;
  };
}

/** Matches from a position on, and continues with `next`. Returns true if all matched. */
type Step = (at: number, next: (at: number) => boolean) => boolean;

class OutOfSteps extends Error {}

/** Searches as a backtracking engine does, and counts steps. References match without a step. */
class Matcher {
  readonly #flags: string;
  readonly #start: Step;
  #text: readonly string[] = [];
  #steps = 0;

  constructor({ pattern, flags }: AST.RegExpLiteral) {
    this.#flags = flags.raw;
    this.#start = this.#compile(pattern);
  }

  /** The steps of a search for all matches; Infinity if they exceed a linear search. */
  stepsOf(text: string): number {
    this.#text = [...text];
    this.#steps = 0;
    try {
      for (let at = 0; at <= this.#text.length; ) {
        let end = at;
        const isMatch = this.#start(at, (matchEnd) => {
          end = matchEnd;
          return true;
        });
        if (this.#flags.includes("y") && !isMatch) break;
        at = isMatch ? Math.max(at + 1, end) : at + 1;
      }
    } catch (error) {
      if (!(error instanceof OutOfSteps)) throw error;
      return Infinity;
    }
    return this.#steps;
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw new OutOfSteps();
  }

  #compile(node: Node): Step {
    if (node.type === "Alternative") {
      const steps = node.elements.map((element) => this.#compile(element));
      const from =
        (index: number): Step =>
        (at, next) => {
          const step = steps[index];
          return step ? step(at, (reached) => from(index + 1)(reached, next)) : next(at);
        };
      return from(0);
    }
    if (node.type === "Assertion") return this.#assertion(node);
    if (node.type === "Quantifier") return this.#loop(node);
    if (node.type === "Backreference") return (at, next) => next(at);
    if ("alternatives" in node) {
      const steps = node.alternatives.map((alternative) => this.#compile(alternative));
      return (at, next) => steps.some((step) => step(at, next));
    }
    const matches = charTest(node, this.#flags);
    return (at, next) => {
      this.#step();
      const char = this.#text[at];
      return char !== undefined && matches(char) && next(at + 1);
    };
  }

  #loop({ min, max, greedy, element }: AST.Quantifier): Step {
    const step = this.#compile(element);
    const repeat =
      (count: number): Step =>
      (at, next) => {
        const more = (): boolean =>
          count < max && step(at, (reached) => (reached > at || count < min) && repeat(count + 1)(reached, next));
        if (count < min) return more();
        return greedy ? more() || next(at) : next(at) || more();
      };
    return repeat(0);
  }

  /** Lookbehinds of one character; longer lookbehinds match without a step. */
  #lookbehind({ alternatives, negate }: AST.LookbehindAssertion): Step {
    const [element, ...others] = alternatives.flatMap(({ elements }) => elements);
    if (!element || others.length > 0 || childrenOf(element).length > 0) return (at, next) => next(at);
    const matches = charTest(element, this.#flags);
    return (at, next) => {
      this.#step();
      const char = this.#text[at - 1];
      return (char !== undefined && matches(char)) !== negate && next(at);
    };
  }

  #assertion(node: AST.Assertion): Step {
    const isWord = (at: number): boolean => /\w/.test(this.#text[at] ?? "");
    const isLine = this.#flags.includes("m");
    if (node.kind === "lookbehind") return this.#lookbehind(node);
    if (node.kind === "lookahead") {
      const steps = node.alternatives.map((alternative) => this.#compile(alternative));
      return (at, next) => steps.some((step) => step(at, () => true)) !== node.negate && next(at);
    }
    const holds = (at: number): boolean => {
      if (node.kind === "word") return (isWord(at - 1) !== isWord(at)) !== node.negate;
      const edge = node.kind === "start" ? 0 : this.#text.length;
      return at === edge || (isLine && this.#text[node.kind === "start" ? at - 1 : at] === "\n");
    };
    return (at, next) => {
      this.#step();
      return holds(at) && next(at);
    };
  }
}
