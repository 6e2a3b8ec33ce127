// A field of the form: a member of a section of the request.
import { useId, useState } from "preact/hooks";
import { valueAt } from "../request/edit.ts";
import { isText, parsed, printed } from "../request/field-text.ts";
import type { FormField } from "../request/form-field.ts";
import { useFieldError } from "./form-context.ts";

/** Sets a member by its path in the section; undefined removes it. */
export type Change = (path: readonly string[], value: unknown) => void;

export type FieldProps = {
  readonly field: FormField;
  /** The object that has the member. */
  readonly section: unknown;
  /** The name of the object in error messages, such as `storage`; empty for the request. */
  readonly name: string;
  readonly change: Change;
};

/** The name of a field in error messages. */
const fullName = (section: string, { member }: FormField): string => (section === "" ? member : `${section}.${member}`);

export function Field(props: FieldProps) {
  return props.field.type === "flag" ? <Flag {...props} /> : <Labelled {...props} />;
}

function Flag({ field, section, name, change }: FieldProps) {
  const path = field.member.split(".");
  const full = fullName(name, field);
  const error = useFieldError(full);
  const value = valueAt(section, path);
  // An object means true with options.
  const isOn = value === true || (typeof value === "object" && value !== null);
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          data-field={full}
          checked={isOn}
          aria-invalid={error === undefined ? undefined : true}
          onChange={(event) => change(path, event.currentTarget.checked ? true : undefined)}
        />
        {field.label}
      </label>
      <Below id={undefined} error={error} help={field.help} />
    </div>
  );
}

function Labelled({ field, section, name, change }: FieldProps) {
  const id = useId();
  const path = field.member.split(".");
  const full = fullName(name, field);
  const error = useFieldError(full);
  const value = valueAt(section, path);
  const [raw, setRaw] = useState("");
  // A text while typing may differ from the text of its value: "1." is 1.
  const fieldText = isText(field, raw, value) ? raw : printed(field, value);
  const below = error === undefined && field.help === undefined ? undefined : `${id}-below`;
  const set = (text: string): void => {
    setRaw(text);
    change(path, parsed(field, text));
  };
  const shared = {
    id,
    "data-field": full,
    "aria-invalid": error === undefined ? undefined : true,
    "aria-describedby": below,
  } as const;
  const typed = {
    ...shared,
    spellcheck: false,
    placeholder: field.example,
    value: fieldText,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => set(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{field.label}</label>
      {field.type === "choice" ? (
        <select {...shared} value={fieldText} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">default</option>
          {optionsOf(field, fieldText).map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.type === "list" || field.type === "headers" || field.type === "pairs" ? (
        <textarea {...typed} rows={3} />
      ) : field.type === "secret" ? (
        // Browsers must not offer people's passwords here, nor store the secrets of buckets.
        <input {...typed} type="password" autocomplete="new-password" />
      ) : (
        <input {...typed} type="text" inputmode={field.type === "number" ? "decimal" : "text"} autocomplete="off" />
      )}
      <Below id={below} error={error} help={field.help} />
    </div>
  );
}

export function Below({
  id,
  error,
  help,
}: {
  readonly id: string | undefined;
  readonly error: string | undefined;
  readonly help: string | undefined;
}) {
  if (error !== undefined) {
    return (
      <p class="invalid" id={id}>
        {error}
      </p>
    );
  }
  return help === undefined ? null : (
    <p class="help" id={id}>
      {help}
    </p>
  );
}

/** The choices, with the present value if the list does not have it. */
const optionsOf = ({ choices = [] }: FormField, shown: string): readonly string[] =>
  shown === "" || choices.includes(shown) ? choices : [...choices, shown];
