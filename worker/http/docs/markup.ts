// Pieces of HTML that all sections of the page are made of. Values in the templates are escaped.
import { html } from "hono/html";
import { printJson } from "./print-json.ts";

export { html };
export type Html = ReturnType<typeof html>;

/** Text in which `backticks` mean code. */
export const prose = (text: string): Html[] =>
  text.split("`").map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));

export const code = (text: string): Html => html`<code>${text}</code>`;

/** Codes with commas between. */
export const codes = (texts: readonly (string | number)[]): Html[] =>
  texts.map((text, at) => html`${at > 0 ? ", " : ""}<code>${text}</code>`);

/** A block of code; it scrolls by keyboard where it is too wide. */
export const block = (text: string, label: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;

export const json = (value: unknown, label: string): Html => block(printJson(value), label);

type Cell = string | number | Html | readonly Html[];

/** A table whose first column names the rows. */
export const table = (label: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html => html`
<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
  ([name = "", ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
)}</tbody></table></div>`;

/** A part of the page that can be linked to; `level` is that of its heading. */
export const section = (level: 2 | 3 | 4, id: string, title: string | Html, ...content: unknown[]): Html => {
  const anchor = html`<a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
  const headings = {
    2: html`<h2>${title}${anchor}</h2>`,
    3: html`<h3>${title}${anchor}</h3>`,
    4: html`<h4>${title}${anchor}</h4>`,
  };
  return html`<section id="${id}">${headings[level]}${content}</section>\n`;
};

/** Where a code stands in the table of errors. */
export const errorAnchor = (errorCode: string): string => `error-${errorCode}`;
