// The proof of a row of the contract: a check of a real run, or a test in another file.
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Evidence } from "./evidence.ts";

export type Proof = {
  /** The description for the table. */
  readonly by: string;
  check(evidence: Evidence): void;
};

export const live = (by: string, check: Proof["check"]): Proof => ({ by, check });

/** A test in another file, which runs separately. */
export function testNamed(file: string, title: string): Proof {
  return {
    by: `${file}: “${title}”`,
    check: () => expect(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")).toContain(`"${title}"`),
  };
}
