// Finds regular expressions that can take more than linear time: the author of a text could block a process with it.
//
// recheck needs a second for an expression. So linear-regexes.txt has the hashes of expressions that were found linear.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { check } from "recheck";
import { ROOT } from "../home/constants.ts";

/** A line for each expression: its hash, and why it is linear if recheck cannot decide that. */
const LIST = join(ROOT, "local/check/linear-regexes.txt");
const TIMEOUT_MS = 60_000;
/** package.json leaves out recheck's programs for Java and for each system: 52 MB. */
process.env.RECHECK_BACKEND = "worker";

export type Regex = { readonly file: string; readonly line: number; readonly pattern: string; readonly flags: string };

/** The literals in a file. */
export function regexesIn(file: string, source: string): Regex[] {
  const regexes: Regex[] = [];
  new Visitor({
    Literal(node) {
      if (!("regex" in node) || !node.regex) return;
      regexes.push({ file, line: source.slice(0, node.start).split("\n").length, ...node.regex });
    },
  }).visit(parseSync(file, source).program);
  return regexes;
}

const textOf = ({ pattern, flags }: Pick<Regex, "pattern" | "flags">): string => `/${pattern}/${flags}`;
const hashOf = (regex: Regex): string => createHash("sha256").update(textOf(regex)).digest("base64url").slice(0, 10);

/** Why an expression may not be linear; null if it is. */
export async function slowness({ pattern, flags }: Pick<Regex, "pattern" | "flags">): Promise<string | null> {
  const result = await check(pattern, flags, { timeout: TIMEOUT_MS });
  if (result.status === "safe") return null;
  return result.status === "vulnerable" ? `is slow for ${result.attack.pattern}` : `is undecided: ${result.error.kind}`;
}

/** A line for each expression that may not be linear. Adds new linear expressions to the list. */
export async function slowRegexes(regexes: readonly Regex[]): Promise<string[]> {
  const lines = readFileSync(LIST, "utf8").trim().split("\n");
  const known = new Set(lines.map((line) => line.split(" ")[0]));
  const slow: string[] = [];
  for (const regex of regexes) {
    const hash = hashOf(regex);
    if (known.has(hash)) continue;
    const reason = await slowness(regex);
    if (reason !== null) slow.push(`${regex.file}:${regex.line}: ${textOf(regex)} ${reason} (${hash})`);
    else lines.push(hash);
    known.add(hash);
  }
  writeFileSync(LIST, `${lines.toSorted().join("\n")}\n`);
  return slow;
}
