// Renders a page of docs/ as HTML for /docs. Links lead to other guides; a link to a file of the repository becomes its
// name.
import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { hashOfRequest } from "../../dashboard/new-job/state.ts";
import { requestOf, SAMPLES, type SampleRequest } from "./samples.ts";

export type Guide = {
  /** Path below docs/ without `.md`. */
  readonly page: string;
  readonly title: string;
  /** The first paragraph, as text. */
  readonly summary: string;
  /** The page's content in HTML. */
  readonly body: string;
  readonly markdown: string;
};

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The id of a heading as on forges: lower case, without punctuation, with `-` for spaces. */
export const idOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

const plain = (markdown: string): string => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");

/** `pages`: all guides that links may lead to. Throws if the page has no title. */
export function renderGuide(page: string, markdown: string, pages: ReadonlySet<string>): Guide {
  const title = /^# (.+)$/m.exec(markdown)?.[1];
  if (title === undefined) throw new Error(`docs/${page}.md has no title`);
  const summary = /^(?!#|\||```|- |\s*$).+(?:\n(?!#|\||```|- |\s*$).+)*/m.exec(markdown.replace(/^# .+$/m, ""))?.[0];
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = idOf(plain(text));
        const anchor = `<a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
        const level = Math.max(depth, 2);
        return `<h${level} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${level}>\n`;
      },
      code({ text, lang = "" }: Tokens.Code) {
        const request = lang === "sh" ? requestOf(text) : null;
        return request === null ? codeBlock(text, lang) : sampleBlock(text, request);
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("");
        const head = `<thead><tr>${cells(token.header, 'th scope="col"').replaceAll('</th scope="col">', "</th>").replaceAll('<th scope="col"></th>', "<td></td>")}</tr></thead>`;
        const rows = token.rows.map((row) => `<tr>${cells(row, "td")}</tr>`).join("\n");
        return `<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = linkTarget(page, href, pages);
        return target === null ? `<span>${text}</span>` : `<a href="${escaped(target)}">${text}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const address = imageAddress(href);
        return address === null ? escaped(text) : `<img src="${address}" alt="${escaped(text)}">`;
      },
      html({ text }: Tokens.HTML | Tokens.Tag) {
        return /^\s*<!--/.test(text) ? "" : (darkAndLight(text) ?? escaped(text));
      },
    },
  });
  const body = marked.parse(markdown.replace(/^# .+\n/m, ""), { async: false });
  return {
    page,
    title: plain(title),
    summary: plain((summary ?? "").replace(/\s*\n>?|^> /g, " ")).trim(),
    body,
    markdown,
  };
}

function codeBlock(text: string, language: string, isHidden = false): string {
  const label = escaped(language === "" ? "Example" : `Example (${language})`);
  const hidden = isHidden ? " hidden" : "";
  return `<div class="code" data-language="${escaped(language)}"${hidden}><pre tabindex="0" role="group" aria-label="${label}"><code>${highlighted(text)}</code></pre></div>\n`;
}

/** Strings, comments, and words and numbers of JSON, in any language of the pages. */
const TOKENS = /("(?:[^"\\\n]|\\.)*")|((?<=^|\s)(?:#|\/\/) .*$)|(\b(?:true|false|null|\d+(?:\.\d+)?)\b)/gm;

const highlighted = (text: string): string =>
  text
    .split(TOKENS)
    .map((part = "", at) =>
      at % 4 === 0 || part === "" ? escaped(part) : `<i class="t${at % 4}">${escaped(part)}</i>`,
    )
    .join("");

/** The command, the same request in other languages, which the page's script shows, and its link to the dashboard. */
function sampleBlock(command: string, request: SampleRequest): string {
  const others = Object.entries(SAMPLES).map(([language, print]) => codeBlock(print(request), language, true));
  const isJob = request.method === "POST" && request.url.endsWith("/v2/jobs");
  const form = isJob && request.body !== null ? `/dashboard/new${hashOfRequest(request.body.value)}` : null;
  const link = form === null ? "" : `<p><a href="${escaped(form)}">Open it in <em>New job</em></a></p>`;
  return `<div class="sample">${codeBlock(command, "curl")}${others.join("")}${link}</div>\n`;
}

const IMAGE = /^[\w-]+\/([\w-]+\.(?:png|webp|svg))$/;

/** The URL of an image in the running service; null for images elsewhere. */
function imageAddress(href: string): string | null {
  const file = IMAGE.exec(href)?.[1];
  return file === undefined ? null : `/guides/${file}`;
}

/** An image with a variant for dark pages, which is the only HTML in pages; null for other HTML. */
function darkAndLight(text: string): string | null {
  const [, dark = "", alt = "", light = ""] =
    /^\s*<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img alt="([^"<>]+)" src="([^"]+)">\s*<\/picture>\s*$/.exec(
      text,
    ) ?? [];
  const [darkAddress, address] = [imageAddress(dark), imageAddress(light)];
  if (darkAddress === null || address === null) return null;
  const source = `<source media="(prefers-color-scheme: dark)" srcset="${darkAddress}">`;
  return `<picture>${source}<img alt="${alt}" src="${address}"></picture>\n`;
}

/** The images in a page, as paths below docs/. */
export const imagesOf = (markdown: string): string[] =>
  [...markdown.matchAll(/(?:\]\(|src="|srcset=")([^")]+)/g)].flatMap(([, path = ""]) =>
    IMAGE.test(path) ? [path] : [],
  );

/** The target of a link in the running service; null for a file of the repository. */
export function linkTarget(page: string, href: string, pages: ReadonlySet<string>): string | null {
  if (/^(?:https?:\/\/|#|\/(?:docs|v2)\/|\/docs$)/.test(href)) return href;
  const [path = "", fragment] = href.split("#");
  const inDocs = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\.md$/, "");
  if (fragment === undefined && imageAddress(path) !== null) return imageAddress(path);
  if (path.endsWith(".md") && pages.has(inDocs)) return `/docs/${inDocs}${fragment ? `#${fragment}` : ""}`;
  return null;
}
