// The frame of all pages of the documentation: head, style, and the order of their parts.
import { raw } from "hono/html";
import { type Html, html } from "./markup.ts";
import { STYLE_TEXT } from "./style.ts";

/** An inline icon, so that browsers request no icon file. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath d='M1 1v6l6-3z' fill='%230b6e5f'/%3E%3C/svg%3E";

type Parts = {
  readonly title: string;
  readonly description: string;
  readonly head?: Html;
  /** The text of the link to the navigation on narrow screens. */
  readonly menu: string;
  readonly header: Html;
  readonly navigation: Html;
  readonly main: unknown;
};

/** A whole page in HTML. It runs no scripts, and loads only images of the service. */
export const page = async ({ title, description, head, menu, header, navigation, main }: Parts): Promise<string> =>
  String(
    await html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${await policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${ICON}">${head ?? ""}
<style>${raw(STYLE_TEXT)}</style></head>
<body><a class="skip" href="#content">Skip to the content</a><a class="menu" href="#pages">${menu}</a>
<header>${header}</header>
${navigation}
<main id="content" tabindex="-1">${main}</main></body></html>
`,
  );

/** Allows only the inline style, the icon and the images of the page. */
async function policy(): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(STYLE_TEXT));
  const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
  const nothing = ["default-src", "base-uri", "form-action"].map((name) => `${name} 'none'`);
  return [...nothing, `style-src 'sha256-${hash}'`, "img-src 'self' data:"].join("; ");
}
