// The page of one guide, with the list of all.
import { raw } from "hono/html";
import type { GuideEntry, GuideIndex } from "./guides.ts";
import { ICON } from "./icon.ts";
import { type Html, html } from "./markup.ts";
import { STYLE } from "./style.ts";

/** The links to all guides; `current` is the page that is shown. */
export const guideLinks = (index: GuideIndex, current: string | null): Html[] =>
  index.map(
    ({ title, pages }) =>
      html`<li class="group">${title}<ul>${pages.map(
        ({ page, title: name }) =>
          html`<li><a href="/docs/${page}"${page === current ? raw(' aria-current="page"') : ""}>${name}</a></li>`,
      )}</ul></li>`,
  );

/** The whole page in HTML. `body` is the guide's own HTML, which the build has made and escaped. */
export const guidePage = async (entry: GuideEntry, body: string, index: GuideIndex): Promise<string> =>
  String(
    await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${entry.title} · Copra</title>
<meta name="description" content="${entry.summary}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">
<link rel="alternate" type="text/markdown" href="/docs/${entry.page}.md">
<style>${STYLE}</style>${entry.hasCalculator ? raw('<script defer src="/guides/calculator.js"></script>') : ""}</head>
<body><a class="skip" href="#content">Skip to the content</a><a class="menu" href="#pages">All pages</a>
<header><h1>${entry.title}</h1></header>
<nav id="pages" aria-label="Guides"><ul><li><a href="/docs">API reference</a></li>${guideLinks(index, entry.page)}</ul></nav>
<main id="content" tabindex="-1">${raw(body)}</main></body></html>
`,
  );
