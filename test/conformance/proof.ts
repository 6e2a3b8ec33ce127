// The proof of a row of the contract: a check of a real run, or a test in another file.
import { readFileSync } from "node:fs";
import { type Expression, parseSync, Visitor } from "oxc-parser";
import { expect } from "vitest";
import type { Evidence } from "./evidence.ts";

export type Proof = {
  /** The description for the table. */
  readonly by: string;
  check(evidence: Evidence): void;
};

export const live = (by: string, check: Proof["check"]): Proof => ({ by, check });

/** A test in another file, which runs separately: it must exist, run and assert. */
export function testNamed(file: string, title: string): Proof {
  const read = (): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
  return { by: `${file}: “${title}”`, check: () => expect(whyNoProof(file, read(), title)).toBeNull() };
}

/** Why a file's test with a title proves nothing; null if it runs and asserts something. */
export function whyNoProof(file: string, source: string, title: string): string | null {
  let reason: string | null = `There is no test “${title}”`;
  const textOf = ({ start, end }: { start: number; end: number }): string => source.slice(start, end);
  const skips = (callee: Expression): boolean => /\.(?:skip|todo|fails|skipIf|runIf)\b/.test(textOf(callee));
  const skipped: { start: number; end: number }[] = [];
  new Visitor({
    CallExpression({ callee, arguments: [name, ...others], start, end }) {
      if (!/^(?:it|test|describe|few)\b/.test(textOf(callee))) return;
      if (skips(callee)) skipped.push({ start, end });
      const isNamed = name?.type === "Literal" && name.value === title;
      if (!isNamed || textOf(callee).startsWith("describe")) return;
      const body = others.findLast(({ type }) => /Function/.test(type));
      const isSkipped = skipped.some((call) => call.start <= start && end <= call.end);
      if (isSkipped) reason = `The test “${title}” is skipped`;
      else if (!body || !/expect/i.test(textOf(body))) reason = `The test “${title}” asserts nothing`;
      else reason = null;
    },
  }).visit(parseSync(file, source).program);
  return reason;
}
