// State that all parts of the form share: errors of fields, the plan, and the way to focus a field.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { DryRunPlan } from "../../../client/index.ts";
import { isField, type Missing } from "../request/plannable.ts";

export type Invalid = { readonly field: string | undefined; readonly message: string };

export type FormErrors = {
  /** The service's validation error. */
  readonly invalid: Invalid | null;
  /** Required fields without a value; empty until somebody tries to send. */
  readonly missing: readonly Missing[];
  /** The plan of the present request; null while it is made, and for invalid requests. */
  readonly plan: DryRunPlan | null;
};

export const FormErrorsContext = createContext<FormErrors>({ invalid: null, missing: [], plan: null });

/** The message for a field, or for a part of its value that has no own field; undefined if there is none. */
export function useFieldError(field: string): string | undefined {
  const { invalid, missing } = useContext(FormErrorsContext);
  if (invalid !== null && isField(field, invalid.field)) return withoutField(invalid);
  return missing.find((entry) => entry.field === field)?.message;
}

/** The message without the name of the field next to it. */
const withoutField = ({ field, message }: Invalid): string =>
  message.startsWith(`\`${field}\``)
    ? message
        .slice(`${field}`.length + 2)
        .replace(/^: ?/, "")
        .trim()
    : message;

/** The message without the list of allowed values, which the field shows. */
export const summaryOf = (message: string): string =>
  message.replace(/[;.?]? ?\b[Aa]llowed: .*$/s, (rest) => (rest.startsWith("?") ? "?" : ""));

/** Moves the focus to a field, or to the nearest part of the form around it. Opens the closed parts around it. */
export function focusField(field: string): void {
  const parts = field.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const name = parts.slice(0, length).join(".");
    const element = document.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`);
    if (element === null) continue;
    for (let part = element.closest("details"); part; part = part.parentElement?.closest("details") ?? null) {
      part.open = true;
    }
    element.focus();
    element.scrollIntoView({ block: "center" });
    return;
  }
}
