// The frame of all pages of /docs: head, search, navigation, contents of the page.
import { createHash } from "node:crypto";
import { escaped, type Guide } from "./render-guide.ts";

/** All guides by group. */
export type GuideIndex = readonly {
  readonly title: string;
  readonly pages: readonly Pick<Guide, "page" | "title" | "summary">[];
}[];

/** An inline icon, so that browsers request no icon file. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath d='M1 1v6l6-3z' fill='%230b6e5f'/%3E%3C/svg%3E";

/** Text that a page contains unchanged. */
export type Inlined = { readonly style: string; readonly script: string };

/**
 * Allows only the inline style and script, the script of the search that it adds ('strict-dynamic'), the icon, and
 * images and the search index of the service.
 */
function policy({ style, script }: Inlined): string {
  const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const nothing = ["default-src", "base-uri", "form-action"].map((name) => `${name} 'none'`);
  const allowed = [`style-src ${hash(style)}`, `script-src ${hash(script)} 'strict-dynamic'`, "connect-src 'self'"];
  return [...nothing, ...allowed, "img-src 'self' data:"].join("; ");
}

/** A section of a page, for the search: page, title, heading, id of the heading, text. */
export type Section = readonly [page: string, title: string, heading: string, id: string, text: string];

const textOf = (body: string): string =>
  body
    .replace(/<a class="anchor".*?<\/a>|<div class="code"[^>]* hidden>[\s\S]*?<\/div>/g, "")
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ")
    .trim();

export const sectionsOf = ({ page, title, body }: Guide): Section[] =>
  body.split(/(?=<h[2-6] id=)/).map((part) => {
    const [, id = "", heading = ""] = /^<h\d id="([^"]*)">(.*?)<\/h\d>/.exec(part) ?? [];
    return [page, title, textOf(heading), id, textOf(part.replace(/^<h\d.*?<\/h\d>/, ""))];
  });

const contentsOf = (guide: Guide): string => {
  const links = sectionsOf(guide).flatMap(([, , heading, id]) =>
    guide.body.includes(`<h2 id="${id}"`) ? [`<li><a href="#${id}">${escaped(heading)}</a></li>`] : [],
  );
  if (links.length < 2) return "";
  return `<details class="toc"><summary>On this page</summary><ul>${links.join("")}</ul></details>`;
};

/** A whole page in HTML. */
export function pageOf(guide: Guide, index: GuideIndex, inlined: Inlined): string {
  const entries = index.flatMap(({ pages }) => pages);
  const at = entries.findIndex(({ page }) => page === guide.page);
  const near = (offset: number, label: string): string => {
    const entry = at < 0 ? undefined : entries[at + offset];
    return entry === undefined
      ? "<span></span>"
      : `<a href="/docs/${entry.page}">${label}: ${escaped(entry.title)}</a>`;
  };
  const groups = index.map(({ title, pages }) => {
    const links = pages.map(({ page, title: name }) => {
      const current = page === guide.page ? ' aria-current="page"' : "";
      return `<li><a href="/docs/${page}"${current}>${escaped(name)}</a></li>`;
    });
    return `<li class="group">${escaped(title)}<ul>${links.join("")}</ul></li>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(policy(inlined))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${guide.page === "index" ? "Copra documentation" : `${escaped(guide.title)} · Copra`}</title>
<meta name="description" content="${escaped(guide.summary)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}"><link rel="alternate" type="text/markdown" href="/docs/${guide.page}.md">
<style>${inlined.style}</style></head>
<body><a class="skip" href="#content">Skip to the content</a>
<header><a class="home" href="/docs">Copra</a><a class="menu" href="#pages">Menu</a><a href="/docs/reference">API</a>
<a href="/dashboard">Dashboard</a><button type="button" id="open-search" hidden>Search <kbd>/</kbd></button></header>
<nav id="pages" aria-label="Guides"><ul>${groups.join("")}</ul></nav>
<main id="content" tabindex="-1"><h1>${escaped(guide.title)}</h1>${contentsOf(guide)}<div class="text">${guide.body}
<p class="near">${near(-1, "Previous")} <a href="/docs/${guide.page}.md">Markdown</a> ${near(1, "Next")}</p></div></main>
<dialog id="search" aria-label="Search"><input type="search" aria-label="Search" placeholder="Search the documentation">
<ol class="results"></ol></dialog>
<script>${inlined.script}</script></body></html>
`;
}
