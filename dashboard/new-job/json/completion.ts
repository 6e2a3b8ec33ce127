// Completion in the JSON of a request.
import { type Completion, type CompletionContext, type CompletionResult, snippet } from "@codemirror/autocomplete";
import { jsonLanguage } from "@codemirror/lang-json";
import type { EditorState } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import type { SyntaxNode, Tree } from "@lezer/common";
import { type Member, memberAt, membersAt } from "./members.ts";
import { pathOf, placeOf, textOf } from "./places.ts";

/** The JSON, its tree, and the text of a field; empty if there is none. */
export const readJson = (state: EditorState) => {
  const doc = state.doc.toString();
  // The tree of the state may be incomplete: its parser stops after 20 ms.
  const tree = jsonLanguage.parser.parse(doc);
  const textAt = (field: string): string => {
    const value = placeOf(doc, tree, field)?.value;
    return value ? textOf(doc, value) : "";
  };
  return { doc, tree, textAt };
};

/** The name or value at the cursor, which a choice replaces; an empty range if there is none. */
function tokenAt({ tree }: { readonly tree: Tree }, pos: number): { readonly from: number; readonly to: number } {
  const node = tree.resolveInner(pos, -1);
  const isToken = pos > node.from && /^(?:PropertyName|String|Number|True|False|Null|⚠)$/.test(node.name);
  return isToken ? node : { from: pos, to: pos };
}

/** Completes names in objects, and values. */
export function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const read = readJson(state);
  const { doc, tree, textAt } = read;
  const inner: SyntaxNode = tree.resolveInner(pos, -1);
  const node = inner.type.isError && inner.parent ? inner.parent : inner;
  const before = doc.slice(0, pos).trimEnd().at(-1) ?? "";
  const token = tokenAt(read, pos);
  // The search is the text after the first quote.
  const from = doc[token.from] === '"' && token.to > token.from ? token.from + 1 : token.from;
  if (node.name === "PropertyName" || (node.name === "Object" && explicit && /[{,]/.test(before))) {
    const object = node.name === "PropertyName" ? node.parent?.parent : node;
    return { from, options: membersAt(object ? pathOf(doc, object) : [], textAt).map(optionOf) };
  }
  const member = memberAt(pathOf(doc, node), textAt);
  if (!member || !(token.to > token.from || explicit || before === ":")) return null;
  return {
    from,
    options: member.values.map((value) => ({ label: value.replaceAll('"', ""), apply: put(() => `${value}#{}`) })),
  };
}

const optionOf = ({ name, label, help, start }: Member): Completion => ({
  label: name,
  detail: label,
  boost: label === "" ? -1 : 0,
  apply: put((follows) => {
    // The name may have its value already, or need a comma.
    const value = follows === ":" ? "#{}" : `: ${start.replace("|", "#{}")}`;
    return `${JSON.stringify(name)}${value}${follows === '"' ? "," : ""}`;
  }),
  ...(help === "" ? {} : { info: help }),
});

/** Puts a text in place of the token. People may have typed since the list appeared. `follows`: the next character. */
const put =
  (textFor: (follows: string | undefined) => string) =>
  (view: EditorView, completion: Completion): void => {
    const read = readJson(view.state);
    const { from, to } = tokenAt(read, view.state.selection.main.head);
    snippet(textFor(read.doc.slice(to).trimStart().at(0)))(view, completion, from, to);
  };
