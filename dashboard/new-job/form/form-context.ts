// What all parts of the form share: errors of fields, and how a field gets the focus.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { isField, type Missing } from "../request/plannable.ts";

export type Invalid = { readonly field: string | undefined; readonly message: string };

export type FormErrors = {
  /** What the service does not accept. */
  readonly invalid: Invalid | null;
  /** Required fields without a value; only after somebody tried to send. */
  readonly missing: readonly Missing[];
};

export const FormErrorsContext = createContext<FormErrors>({ invalid: null, missing: [] });

/** The message for a field, or for a part of it that has no field; undefined if there is none. */
export function useFieldError(field: string): string | undefined {
  const { invalid, missing } = useContext(FormErrorsContext);
  if (invalid !== null && isField(field, invalid.field)) return withoutField(invalid);
  return missing.find((one) => one.field === field)?.message;
}

/** The message at its field, which need not be named again. */
const withoutField = ({ field, message }: Invalid): string =>
  message.startsWith(`\`${field}\``)
    ? message
        .slice(`${field}`.length + 2)
        .replace(/^: ?/, "")
        .trim()
    : message;

/** Without the list of all that is allowed, which is at the field. */
export const summaryOf = (message: string): string =>
  message.replace(/[;.?]? ?\b[Aa]llowed: .*$/s, (rest) => (rest.startsWith("?") ? "?" : ""));

/** Moves the focus to a field, or to the nearest part of the form that has it. Opens what hides it. */
export function focusField(field: string): void {
  const parts = field.split(".");
  for (let length = parts.length; length > 0; length -= 1) {
    const name = parts.slice(0, length).join(".");
    const element = document.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`);
    if (element === null) continue;
    const details = element.closest("details");
    if (details !== null) details.open = true;
    element.focus();
    element.scrollIntoView({ block: "center" });
    return;
  }
}
