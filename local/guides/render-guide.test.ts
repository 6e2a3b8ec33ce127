import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { CONTENTS } from "./contents.ts";
import { idOf, linkTarget, renderGuide } from "./render-guide.ts";

const PAGES = CONTENTS.flatMap(({ pages }) => pages);
const KNOWN = new Set(PAGES);

describe("links of a guide", () => {
  it.each([
    ["nodes", "fleet.md", "/docs/fleet"],
    ["nodes", "fleet.md#scaling", "/docs/fleet#scaling"],
    ["migrating/mux", "../storage.md", "/docs/storage"],
    ["nodes", "#logs", "#logs"],
    ["nodes", "https://keda.sh", "https://keda.sh"],
    ["nodes", "decisions/media.md", null],
    ["nodes", "../README.md", null],
    ["nodes", "javascript:alert(1)", null],
  ])("a link on %s to %s leads to %s", (page, href, target) => expect(linkTarget(page, href, KNOWN)).toBe(target));
});

describe("a guide", () => {
  it("renders the title and the first paragraph as text, and passes on no HTML", () => {
    const text =
      "# Encoder `nodes`\n\nA [node](fleet.md) is\none process.\n\n<script>x</script>\n\n| a | |\n| --- | --- |\n| `<b>` | |\n";
    const guide = renderGuide("nodes", text, KNOWN);
    expect(guide).toMatchObject({ title: "Encoder nodes", summary: "A node is one process." });
    expect(guide.body).not.toMatch(/<script|<b>/);
    expect(guide.body).toContain('<th scope="col">a</th><td></td>');
  });

  it.each(["Docker Compose", "What it does, and why", "`/v2/jobs`"])("gives the heading %s an anchor", (heading) => {
    const id = idOf(heading.replaceAll("`", ""));
    expect(renderGuide("nodes", `# X\n\n## ${heading}\n`, KNOWN).body).toContain(`<h2 id="${id}">`);
  });
});

/** Pages for developers of the code, and generated pages. */
const NOT_GUIDES = new Set(["contract"]);

it("lists every page of docs/ once in the contents", () => {
  const pagesOf = (folder: string): string[] =>
    readdirSync(join(ROOT, "docs", folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name.slice(0, -".md".length)));
  const pages = [...pagesOf("."), ...pagesOf("migrating")].filter((page) => !NOT_GUIDES.has(page));
  expect(PAGES.toSorted()).toEqual(pages.toSorted());
});

it.each(PAGES)("links of %s lead to existing headings", (page) => {
  const read = (name: string): string => readFileSync(join(ROOT, "docs", `${name}.md`), "utf8");
  const { body, summary } = renderGuide(page, read(page), KNOWN);
  expect(summary).not.toBe("");
  for (const [, target = "", id = ""] of body.matchAll(/href="(?:\/docs\/([\w/-]+))?#([^"]+)"/g)) {
    const other = target === "" ? body : renderGuide(target, read(target), KNOWN).body;
    expect(other).toContain(`id="${id}"`);
  }
});
