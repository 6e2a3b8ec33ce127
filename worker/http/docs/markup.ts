// HTML elements for the sections of the page. Templates escape values.
import { html } from "hono/html";
import { printJson } from "./print-json.ts";

export { html };
export type Html = ReturnType<typeof html>;

/** Text with code in `backticks`. */
export const prose = (text: string): Html[] =>
  text.split("`").map((part, at) => (at % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));

export const code = (text: string): Html => html`<code>${text}</code>`;

/** Code elements separated by commas. */
export const codes = (texts: readonly (string | number)[]): Html[] =>
  texts.map((text, at) => html`${at > 0 ? ", " : ""}<code>${text}</code>`);

/** A code block that the keyboard can scroll if it is too wide. */
export const block = (text: string, label: string): Html =>
  html`<pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>`;

export const json = (value: unknown, label: string): Html => block(printJson(value), label);

type Cell = string | number | Html | readonly Html[];

/** A table whose first column contains the row headers. */
export const table = (label: string, heads: readonly string[], rows: readonly (readonly Cell[])[]): Html => html`
<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map(
  ([name = "", ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
)}</tbody></table></div>`;

/** A section with an anchor. `level`: the level of its heading. */
export const section = (level: 2 | 3 | 4, id: string, title: string | Html, ...content: unknown[]): Html => {
  const anchor = html`<a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
  const headings = {
    2: html`<h2>${title}${anchor}</h2>`,
    3: html`<h3>${title}${anchor}</h3>`,
    4: html`<h4>${title}${anchor}</h4>`,
  };
  return html`<section id="${id}">${headings[level]}${content}</section>\n`;
};

/** The anchor of an error code in the error table. */
export const errorAnchor = (errorCode: string): string => `error-${errorCode}`;
