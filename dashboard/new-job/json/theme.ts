// The look of the editor, with the colors of the dashboard.
import { EditorView } from "@codemirror/view";

const FRAME = { border: "1px solid var(--line-strong)", borderRadius: "var(--round)" };
const FLOATING = { ...FRAME, background: "var(--raised)", color: "var(--text)", boxShadow: "var(--shadow-l)" };

export const THEME = EditorView.theme({
  "&": { ...FRAME, background: "var(--surface)", color: "var(--text)", fontSize: "var(--body)" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { minHeight: "20rem", padding: "var(--s2) 0", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 0.625rem" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--accent-tint)" },
  ".cm-tooltip": FLOATING,
  ".cm-help, .cm-diagnostic, .cm-tooltip.cm-completionInfo": {
    padding: "var(--s1) var(--s2)",
    maxWidth: "22rem",
    fontFamily: "var(--sans)",
    fontSize: "var(--small)",
    overflowWrap: "anywhere",
  },
  ".cm-diagnostic-error": { borderLeft: "3px solid var(--bad)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(30rem, 92vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "var(--s1) var(--s2)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { fontFamily: "var(--sans)", fontStyle: "normal" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
});
