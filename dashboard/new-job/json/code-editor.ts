// An editor for the JSON of a request, by CodeMirror. It has its own script, which pages load with the first JSON.
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, diagnosticCount, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, hoverTooltip, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { complete, readJson } from "./completion.ts";
import { memberAt } from "./members.ts";
import { errorIn, pathOf, placeOf } from "./places.ts";
import { THEME } from "./theme.ts";

export type Failure = { readonly field: string | undefined; readonly message: string };
export type Editor = {
  readonly view: EditorView;
  /** Replaces the text. Nobody can undo this: the earlier text may have had secrets. */
  readonly replace: (text: string) => void;
  /** Marks the place of an error; null removes the mark. */
  readonly mark: (failure: Failure | null) => void;
};

export function openEditor(
  parent: HTMLElement,
  text: string,
  {
    attributes,
    change,
    leave,
    send,
  }: {
    readonly attributes: Readonly<Record<string, string>>;
    readonly change: (text: string) => void;
    readonly leave: () => void;
    readonly send: () => void;
  },
): Editor {
  const extensions: Extension = [
    keymap.of([
      { key: "Mod-Enter", run: () => send() ?? true },
      // Without completions, Tab leaves the editor.
      { key: "Tab", run: acceptCompletion },
      ...[...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap],
    ]),
    [json(), history(), closeBrackets(), bracketMatching(), syntaxHighlighting(COLORS), THEME],
    [autocompletion({ override: [complete], icons: false }), help, EditorView.lineWrapping],
    EditorView.contentAttributes.of(({ state }) => ({
      ...attributes,
      "aria-invalid": `${diagnosticCount(state) > 0}`,
    })),
    EditorView.domEventHandlers({ blur: leave }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) change(update.state.doc.toString());
    }),
  ];
  const stateOf = (doc: string): EditorState => EditorState.create({ doc, extensions });
  const view = new EditorView({ parent, state: stateOf(text) });
  return {
    view,
    replace: (next) => view.setState(stateOf(next)),
    mark: (failure) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, failure))),
  };
}

function diagnosticsOf(state: EditorState, failure: Failure | null): Diagnostic[] {
  if (failure === null) return [];
  const { doc, tree } = readJson(state);
  const broken = errorIn(tree);
  const unknown = /has no field `([^`]+)`/.exec(failure.message)?.[1];
  const place = placeOf(doc, tree, [failure.field, unknown].filter(Boolean).join("."));
  const range = unknown === undefined ? (place?.value ?? place?.name) : place?.name;
  const { from, to } = broken === null && range ? range : { from: broken ?? 0, to: (broken ?? 0) + 1 };
  return [{ from, to: Math.min(to, doc.length), severity: "error", message: failure.message }];
}

/** The label and the help of the name below the pointer. */
const help = hoverTooltip(({ state }, pos) => {
  const { doc, tree, textAt } = readJson(state);
  const node = tree.resolveInner(pos, 1);
  const member = node.name === "PropertyName" ? memberAt(pathOf(doc, node), textAt) : undefined;
  const text = [member?.label, member?.help].filter(Boolean).join(": ");
  if (text === "") return null;
  const dom = document.createElement("div");
  dom.className = "cm-help";
  dom.textContent = text;
  return { pos: node.from, end: node.to, create: () => ({ dom }) };
});

const COLORS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--busy)" },
]);
