// Counts words that make sentences hard to read, such as pronouns for things that have a name. In 1,000 words of
// comments of hono, execa, mediabunny and temporal, "what" occurs 0.0 to 0.4 times, and "one" 0.4 to 3.3 times.
import { parseSync, Visitor, type Visitor as VisitorType } from "oxc-parser";

export const KINDS = ["comments", "messages", "titles", "docs"] as const;

/** Text for people: a comment, a message in the code, the title of a test, or a line of Markdown. */
export type Prose = {
  readonly kind: (typeof KINDS)[number];
  readonly file: string;
  readonly line: number;
  readonly text: string;
};

export type Habit = {
  readonly name: string;
  readonly pattern: RegExp;
  /** Occurrences in 1,000 words. */
  readonly limit: number;
  /** Another limit for messages, in which "one" is mostly a number: "must be one of", "at least one output". */
  readonly messageLimit?: number;
};

export const HABITS: readonly Habit[] = [
  { name: "what", pattern: /\bwhat\b/gi, limit: 1 },
  { name: "one", pattern: /\bones?\b/gi, limit: 3.5, messageLimit: 5 },
  { name: "those of", pattern: /\b(?:those|that) of\b/gi, limit: 0.1 },
  { name: "those that", pattern: /\bthose (?:that|which|who)\b/gi, limit: 0.1 },
  { name: "of which", pattern: /\b(?:of|by|for) which\b/gi, limit: 1 },
  { name: "begin", pattern: /\b(?:begin|begins|began|begun|beginning)\b/gi, limit: 0.3 },
];

/** Docstrings start with a noun or a verb. */
const BAD_START = /^(?:What|Whether|How|One|Of)\b/;

const WORD = /[A-Za-z][A-Za-z'-]*/g;
const TEST_FUNCTION = /^(?:it|test|describe)$/;

const lineOf = (source: string, at: number): number => source.slice(0, at).split("\n").length;

/** True if a text in the code is a sentence: at least three words, and no path, pattern or command. */
const isSentence = (text: string): boolean => /[a-z]+ [a-z]+ [a-z]+/i.test(text);

/** The comments, messages and test titles of a file, and its docstrings that start with a pronoun or question word. */
export function proseOf(file: string, source: string): { readonly prose: Prose[]; readonly badStarts: string[] } {
  const prose: Prose[] = [];
  const { program, comments } = parseSync(file, source);
  const badStarts = comments
    .filter(({ type, value }) => type === "Block" && BAD_START.test(value.replace(/^[\s*]+/, "")))
    .map(({ start, value }) => `${file}:${lineOf(source, start)}: ${value.replaceAll(/[\s*]+/g, " ").slice(0, 120)}`);
  for (const { value, start } of comments) {
    for (const [at, text] of value.split("\n").entries()) {
      prose.push({ kind: "comments", file, line: lineOf(source, start) + at, text: text.replace(/^\s*\*+\s?/, "") });
    }
  }
  const titles = new Set<number>();
  const add = (kind: "messages" | "titles", start: number, text: string): void => {
    prose.push({ kind, file, line: lineOf(source, start), text });
  };
  const visitor: ConstructorParameters<typeof VisitorType>[0] = {
    CallExpression(node) {
      const [title] = node.arguments;
      if (title?.type !== "Literal" || typeof title.value !== "string") return;
      if (!TEST_FUNCTION.test(/^\w+/.exec(source.slice(node.callee.start))?.[0] ?? "")) return;
      titles.add(title.start);
      add("titles", title.start, title.value);
    },
    Literal(node) {
      if (typeof node.value !== "string" || titles.has(node.start) || !isSentence(node.value)) return;
      add("messages", node.start, node.value);
    },
    TemplateElement(node) {
      if (isSentence(node.value.raw)) add("messages", node.start, node.value.raw);
    },
    JSXText(node) {
      if (isSentence(node.value)) add("messages", node.start, node.value);
    },
  };
  new Visitor(visitor).visit(program);
  return { prose, badStarts };
}

export const proseOfMarkdown = (file: string, text: string): Prose[] =>
  text.split("\n").map((line, at) => ({ kind: "docs" as const, file, line: at + 1, text: line }));

const countOf = (texts: readonly Prose[], pattern: RegExp): number =>
  texts.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);

/** Occurrences of each habit in 1,000 words of the texts. */
export function ratesOf(texts: readonly Prose[]): { words: number; rates: Readonly<Record<string, number>> } {
  const words = countOf(texts, WORD);
  const rate = ({ name, pattern }: Habit) => [name, (1000 * countOf(texts, pattern)) / Math.max(words, 1)] as const;
  return { words, rates: Object.fromEntries(HABITS.map(rate)) };
}

/** The habits that are above their limits in texts of one kind, each with its places. */
export function voiceErrors(kind: Prose["kind"], all: readonly Prose[]): string[] {
  const texts = all.filter((prose) => prose.kind === kind);
  const { rates } = ratesOf(texts);
  const limitOf = ({ limit, messageLimit = limit }: Habit): number => (kind === "messages" ? messageLimit : limit);
  const exceeded = HABITS.filter((habit) => (rates[habit.name] ?? 0) > limitOf(habit));
  return exceeded.flatMap((habit) => [
    `"${habit.name}" ${rates[habit.name]?.toFixed(1)} times in 1,000 words of ${kind}, at most ${limitOf(habit)}:`,
    ...texts
      .filter(({ text }) => text.match(habit.pattern))
      .map(({ file, line, text }) => `  ${file}:${line}: ${text.trim().slice(0, 140)}`),
  ]);
}
