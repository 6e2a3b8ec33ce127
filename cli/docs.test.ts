import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCommandLine, withDefaultVerb } from "./program.ts";
import { COMMANDS } from "./table/commands.ts";

const ROOT = join(import.meta.dirname, "..");
const PAGES = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

/** Commands in code blocks and in backticks, without their comments. */
function commandsIn(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) =>
    block.replaceAll(/ *\\\n */g, " ").split("\n"),
  );
  const inline = [...text.matchAll(/`((?:npm run )?copra [^`]*)`/g)].map(([, line = ""]) => line);
  return [...blocks, ...inline]
    .map((line) => /^(?:npm run copra --|npx --no copra|copra) +(.*)$/.exec(line.replace(/ +#.*$/, ""))?.[1] ?? "")
    .filter((line) => line !== "" && !line.startsWith("<command>"));
}

const lines = [
  ...PAGES.flatMap((page) => commandsIn(page).map((line) => [page, line] as const)),
  ...COMMANDS.flatMap(({ name, examples = [] }) =>
    examples.map((line) => [name, line.replace(/^copra /, "")] as const),
  ),
]
  .filter(([, line]) => !/[|<>"(]/.test(line.replace(/<[a-z ]+>/g, "x")))
  // The node program parses its own options.
  .filter(([, line]) => !line.startsWith("node -"));

it("names no command that npx could take from the registry, where anybody may own a name", () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const pages = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !/(?:^|\/)(?:node_modules|dist)\//.test(name))
    .concat("local/home/constants.ts");
  const named = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), "utf8").matchAll(/\bnpx"?,?\s+(?:"args": \[)?"?([^\s`"]+)/g)].map(
      ([, name = ""]) => `${page}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(10);
  const isOurs = (line: string): boolean => {
    const name = line.split(": ")[1] ?? "";
    return name === "--no" || name in { ...dependencies, ...devDependencies };
  };
  expect(named.filter((line) => !isOurs(line))).toEqual([]);
});

describe("commands in the documentation are valid", () => {
  it.each(lines)("%s: copra %s", (_, line) => {
    const argv = line.replaceAll(/<[a-z ]+>/g, "x").split(/ +/);
    const parsed = parseCommandLine(withDefaultVerb(argv), "1");
    if ("words" in parsed) expect(parsed.words).toMatchObject({ isHelp: true });
    else expect(parsed.chosen.spec.name).toBeTruthy();
  });

  it("finds more than 50 commands in the documentation", () => expect(lines.length).toBeGreaterThan(50));
});
