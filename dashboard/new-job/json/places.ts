// Places in JSON that may be incomplete, by its syntax tree: paths of positions, positions of fields.
import type { SyntaxNode, Tree } from "@lezer/common";

const isValue = ({ name }: SyntaxNode): boolean => /^(?:Object|Array|String|Number|True|False|Null)$/.test(name);
const childrenOf = (node: SyntaxNode): SyntaxNode[] => {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
};

/** The text of a string; an incomplete string gives its characters. */
export function textOf(json: string, { from, to }: { readonly from: number; readonly to: number }): string {
  const raw = json.slice(from, to);
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw.replaceAll('"', "");
  }
}

/** The names of properties, and the positions in arrays, from the top to a node. */
export function pathOf(json: string, node: SyntaxNode): string[] {
  const path: string[] = [];
  for (let at: SyntaxNode | null = node; at; at = at.parent) {
    const { parent } = at;
    if (at.name === "Property" && at.firstChild) path.unshift(textOf(json, at.firstChild));
    const { from } = at;
    if (parent?.name === "Array") {
      path.unshift(`${childrenOf(parent).filter((child) => isValue(child) && child.from < from).length}`);
    }
  }
  return path;
}

type Found = { readonly node: SyntaxNode; readonly value: SyntaxNode | undefined; readonly rest: string };

/** The property or entry of a value with the first part of a field's name. Names may contain dots. */
function stepOf(json: string, value: SyntaxNode, field: string): Found | undefined {
  const rests = childrenOf(value).flatMap((node): Found[] => {
    const inner = childrenOf(node).findLast(isValue);
    if (value.name !== "Object" || node.name !== "Property" || !node.firstChild) return [];
    const name = textOf(json, node.firstChild);
    const rest = field.startsWith(name) ? field.slice(name.length) : "?";
    // The second of several outputs with the format mp4 is `mp4:2`.
    const listed = inner?.name === "Array" ? /^:(\d+)(.*)$/s.exec(rest) : null;
    if (listed) return [{ node, value: inner, rest: `${Number(listed[1]) - 1}${listed[2]}` }];
    return rest === "" || rest.startsWith(".") ? [{ node, value: inner, rest: rest.slice(1) }] : [];
  });
  const [index, ...others] = field.split(".");
  const entry = value.name === "Array" ? childrenOf(value).filter(isValue)[Number(index)] : undefined;
  if (entry) return { node: entry, value: entry, rest: others.join(".") };
  return rests.toSorted((a, b) => a.rest.length - b.rest.length)[0];
}

type Range = { readonly from: number; readonly to: number };

/**
 * The place of a field of an error message: its name, and its value unless that is an object or array. A missing field
 * is at the name of its object. Null without any place.
 */
export function placeOf(json: string, tree: Tree, field: string): { name: Range; value: Range | undefined } | null {
  let place: Found | undefined;
  let value = childrenOf(tree.topNode).find(isValue);
  for (let rest = field; value && rest !== ""; ) {
    const next = stepOf(json, value, rest);
    if (!next) break;
    place = next;
    ({ value, rest } = next);
  }
  if (!place) return null;
  const isScalar = place.rest === "" && !["Object", "Array"].includes(place.value?.name ?? "Object");
  return { name: place.node.firstChild ?? place.node, value: isScalar ? place.value : undefined };
}

/** The place of the first syntax error; null in valid JSON. */
export function errorIn(tree: Tree): number | null {
  let at: number | null = null;
  tree.iterate({
    enter: ({ type, from }) => {
      if (type.isError) at ??= from;
    },
  });
  return at;
}
