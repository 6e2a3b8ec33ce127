// The outputs: each with its format, chosen from lists or typed, and its parameters.
import { useId, useState } from "preact/hooks";
import { Icon } from "../../parts/icon.tsx";
import { isObject, withValue } from "../request/edit.ts";
import { OUTPUT_FIELDS } from "../request/form-fields.ts";
import {
  CONTAINER_NAMES,
  choicesOf,
  containerOf,
  type Slot as SlotName,
  slotOf,
  withContainer,
  withSlot,
} from "../request/format-tokens.ts";
import {
  kindOf,
  type NamedOutput,
  NEW_OUTPUTS,
  type Output,
  outputList,
  outputsSection,
  withOutput,
} from "../request/output-list.ts";
import type { Json } from "../secrets.ts";
import { Below } from "./field.tsx";
import { Fields } from "./fields.tsx";
import { useFieldError } from "./form-context.ts";

export function OutputsForm({ outputs, set }: { readonly outputs: unknown; readonly set: (outputs: Json) => void }) {
  const list = outputList(outputs);
  const error = useFieldError("outputs");
  const replace = (at: number, output: Output | null): void =>
    set(outputsSection(list.flatMap((one, index) => (index === at ? (output ?? []) : one))));
  return (
    <>
      <ol class="outputs">
        {list.map((output, at) => (
          // Outputs have no identity of their own: the same place is the same output.
          <li key={at} class="output">
            <OutputForm output={output} others={list} set={(next) => replace(at, next)} />
          </li>
        ))}
      </ol>
      <fieldset class="row" aria-label="Add an output">
        {NEW_OUTPUTS.map(({ label, format, params }) => (
          <button
            type="button"
            key={label}
            data-field={label === "Video" ? "outputs" : undefined}
            onClick={() => set(outputsSection(withOutput(list, format, params)))}
          >
            <Icon name="add" /> {label}
          </button>
        ))}
      </fieldset>
      {list.length === 0 && <Below id={undefined} error={error} help="A job has 1 to 30 outputs." />}
    </>
  );
}

function OutputForm({
  output,
  others,
  set,
}: {
  readonly output: NamedOutput;
  readonly others: readonly Output[];
  readonly set: (output: Output | null) => void;
}) {
  const { format, name, params } = output;
  const kind = kindOf(format);
  const section = isObject(params) ? params : {};
  return (
    <>
      <div class="output-head">
        {kind === "stream" ? (
          <strong>HLS and DASH stream</strong>
        ) : (
          <FormatText output={output} others={others} set={set} />
        )}
        <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={() => set(null)}>
          <Icon name="trash" />
        </button>
      </div>
      {kind !== "stream" && <Slots format={format} set={(next) => set({ ...output, format: next })} />}
      <Fields
        fields={OUTPUT_FIELDS[kind]}
        name={`outputs.${name}`}
        section={section}
        change={(path, value) => set({ ...output, params: withValue(section, path, value) })}
      />
    </>
  );
}

/** A format is taken over as it is typed, unless another output has it: then when the field is left. */
function FormatText({
  output,
  others,
  set,
}: {
  readonly output: NamedOutput;
  readonly others: readonly Output[];
  readonly set: (output: Output) => void;
}) {
  const id = useId();
  const { format } = output;
  const field = `outputs.${format}`;
  const error = useFieldError(field);
  const [typed, setTyped] = useState<string | null>(null);
  const take = (text: string): void => set({ ...output, format: text.trim() });
  const isTaken = (text: string): boolean =>
    text === "" || text === "httpstream" || others.some((other) => other.format === text.trim());
  return (
    <div class="field format">
      <label for={id}>Format</label>
      <input
        id={id}
        class="mono"
        data-field={field}
        spellcheck={false}
        autocomplete="off"
        value={typed ?? format}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error === undefined ? undefined : `${id}-below`}
        onInput={({ currentTarget: { value } }) => {
          // Only what waits has a text of its own: the lists may change the format meanwhile.
          setTyped(isTaken(value) ? value : null);
          if (!isTaken(value)) take(value);
        }}
        onBlur={() => {
          if (typed !== null && typed.trim() !== "" && typed.trim() !== format) take(typed);
          setTyped(null);
        }}
      />
      <Below id={`${id}-below`} error={error} help={undefined} />
    </div>
  );
}

const SLOTS: readonly { readonly slot: SlotName; readonly label: string; readonly none: string }[] = [
  { slot: "size", label: "Size", none: "as the source" },
  { slot: "codec", label: "Video", none: "default codec" },
  { slot: "rate", label: "Rate", none: "automatic" },
  { slot: "fps", label: "Frame rate", none: "as the source" },
  { slot: "audio", label: "Audio", none: "default codec" },
  { slot: "audioRate", label: "Audio rate", none: "automatic" },
  { slot: "channels", label: "Channels", none: "as the source" },
];
const OFF: Readonly<Record<string, string>> = { x: "none" };

function Slots({ format, set }: { readonly format: string; readonly set: (format: string) => void }) {
  const choices = choicesOf(format);
  return (
    <div class="slots">
      <Slot
        label="Container"
        value={containerOf(format)}
        values={CONTAINER_NAMES}
        choose={(name) => set(withContainer(format, name))}
      />
      {SLOTS.flatMap(({ slot, label, none }) => {
        const values = choices[slot];
        if (values === undefined) return [];
        const choose = (text: string): void => set(withSlot(format, slot, text));
        return (
          <Slot key={slot} label={label} none={none} value={slotOf(format, slot)} values={values} choose={choose} />
        );
      })}
    </div>
  );
}

function Slot({
  label,
  none,
  value,
  values,
  choose,
}: {
  readonly label: string;
  /** What the empty choice means; without it there is none. */
  readonly none?: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly choose: (text: string) => void;
}) {
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {withOwn(values, value).map((one) => (
          <option key={one} value={one}>
            {OFF[one] ?? one.replace("quality=", "quality ")}
          </option>
        ))}
      </select>
    </div>
  );
}

const withOwn = (known: readonly string[], value: string): readonly string[] =>
  value === "" || known.includes(value) ? known : [value, ...known];
