// The page of a guide, with the list of all guides.
import { raw } from "hono/html";
import { type Html, html } from "./markup.ts";
import { page } from "./page-frame.ts";

export type GuideEntry = { readonly page: string; readonly title: string; readonly summary: string };
/** All guides by group. */
export type GuideIndex = readonly { readonly title: string; readonly pages: readonly GuideEntry[] }[];

/** The links to all guides. `current`: the page shown. */
export const guideLinks = (index: GuideIndex, current: string | null): Html[] =>
  index.map(
    ({ title, pages }) =>
      html`<li class="group">${title}<ul>${pages.map(
        ({ page: name, title: text }) =>
          html`<li><a href="/docs/${name}"${name === current ? raw(' aria-current="page"') : ""}>${text}</a></li>`,
      )}</ul></li>`,
  );

/** The whole page in HTML. `body`: the guide's own HTML, which the build has made and escaped. */
export const guidePage = (entry: GuideEntry, body: string, index: GuideIndex): Promise<string> =>
  page({
    title: `${entry.title} · Copra`,
    description: entry.summary,
    head: html`<link rel="alternate" type="text/markdown" href="/docs/${entry.page}.md">`,
    menu: "All pages",
    header: html`<h1>${entry.title}</h1>`,
    navigation: html`<nav id="pages" aria-label="Guides"><ul><li><a href="/docs">API reference</a></li>${guideLinks(index, entry.page)}</ul></nav>`,
    main: raw(body),
  });
