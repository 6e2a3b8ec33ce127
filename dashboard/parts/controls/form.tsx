// Forms: fields with labels, and the request that a form sends.
import type { ComponentChildren, InputHTMLAttributes, TargetedInputEvent } from "preact";
import { useId, useState } from "preact/hooks";
import { date } from "../../core/format.ts";

type FieldProps = {
  readonly name?: string;
  readonly type?: "text" | "url" | "password" | "number";
  readonly value?: string;
  readonly defaultValue?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly maxLength?: number;
  readonly autocomplete?: "off" | "current-password";
  readonly spellcheck?: boolean;
  readonly onInput?: (event: TargetedInputEvent<HTMLInputElement>) => void;
  readonly label: ComponentChildren;
  readonly help?: ComponentChildren;
  /** Another element instead of the input, with this id. */
  readonly children?: (id: string) => ComponentChildren;
};

/** A field with its label. */
export function Field({ label, help, children, ...rest }: FieldProps) {
  const id = useId();
  const helpId = help === undefined ? undefined : `${id}-help`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children?.(id) ?? (
        <input id={id} aria-describedby={helpId} {...(rest as InputHTMLAttributes<HTMLInputElement>)} />
      )}
      {help !== undefined && (
        <p class="help" id={helpId}>
          {help}
        </p>
      )}
    </div>
  );
}

/** `none`: the text without a day. */
type DayProps = { value: string; set(day: string): void; label?: string; id?: string; name?: string; none?: string };

/** A day, `YYYY-MM-DD` or "". Without the focus, it has the form of other dates instead of the browser's. */
export const Day = ({ set, label, none = "any day", ...rest }: DayProps) => (
  <span class="day" data-text={rest.value === "" ? none : date(`${rest.value}T12:00:00`)}>
    <input type="date" aria-label={label} onChange={(event) => set(event.currentTarget.value)} {...rest} />
  </span>
);

type CheckProps = {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly set: (checked: boolean) => void;
};

/** A check box with its label. */
export const Check = ({ label, checked, set }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => set(event.currentTarget.checked)} />
    {label}
  </label>
);

export type Fields = {
  /** The text of a field without space around it; "" if the form lacks the field. */
  readonly text: (name: string) => string;
  readonly data: FormData;
  readonly form: HTMLFormElement;
};

/** Sends a form by `send`. `error`: the reason why the last try failed; undefined after success. */
export function useForm(send: (fields: Fields) => Promise<unknown>) {
  const [{ isBusy, error }, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false });
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const data = new FormData(form);
    setState({ isBusy: true });
    try {
      await send({ text: (name) => String(data.get(name) ?? "").trim(), data, form });
      setState({ isBusy: false });
    } catch (reason) {
      setState({ isBusy: false, error: reason });
    }
  };
  return { onSubmit, isBusy, error };
}
