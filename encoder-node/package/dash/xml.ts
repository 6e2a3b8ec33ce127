// Formats XML.

/** The lines of an element, with its children indented. */
export type Lines = readonly string[];

/** An element with child elements or without content. Attributes that are null are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | boolean | null>>,
  children: readonly Lines[] = [],
): Lines {
  const list = Object.entries(attributes).flatMap(([key, value]) =>
    value === null ? [] : [` ${key}="${escaped(String(value))}"`],
  );
  const open = `<${name}${list.join("")}`;
  const inner = children.flat();
  return inner.length === 0 ? [`${open}/>`] : [`${open}>`, ...inner.map((line) => `  ${line}`), `</${name}>`];
}

/** An element with text. */
export const textElement = (name: string, text: string): Lines => [`<${name}>${escaped(text)}</${name}>`];

export const xmlText = (root: Lines): string => `${['<?xml version="1.0" encoding="UTF-8"?>', ...root].join("\n")}\n`;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Characters that XML does not allow become the replacement character (XML 1.0 §2.2). */
const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
    .replace(/[\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
