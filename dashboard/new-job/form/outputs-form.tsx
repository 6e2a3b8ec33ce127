// The outputs, each with its parameters and its format. People choose the format from lists or type it.
import { useEffect, useId, useState } from "preact/hooks";
import { Icon } from "../../parts/icon.tsx";
import { isObject, withValue } from "../request/edit.ts";
import { GOAL_NAMES, GOALS, goalsIn, outputsOf } from "../request/goals.ts";
import { OUTPUT_FIELDS } from "../request/output-fields.ts";
import {
  kindOf,
  type NamedOutput,
  type Output,
  outputList,
  outputsSection,
  withOutput,
} from "../request/output-list.ts";
import type { Json } from "../secrets.ts";
import { Below } from "./field.tsx";
import { Fields } from "./fields.tsx";
import { useFieldError } from "./form-context.ts";
import { FormatSlots } from "./format-slots.tsx";
import { Ladder } from "./ladder.tsx";

export function OutputsForm({ outputs, set }: { readonly outputs: unknown; readonly set: (outputs: Json) => void }) {
  const list = outputList(outputs);
  const hasOthers = goalsIn(list).others.length > 0;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (hasOthers) setOpen(true);
  }, [hasOthers]);
  const replace = (at: number, output: Output | null): void =>
    set(outputsSection(list.flatMap((one, index) => (index === at ? (output ?? []) : one))));
  return (
    <details class="card advanced" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>Advanced</strong> <span class="muted">formats, codecs, bitrates and paths of the outputs</span>
        <span class="chip">{list.length}</span>
      </summary>
      <ol class="output-forms">
        {list.map((output, at) => (
          // Outputs have no identity: an output is its position in the list.
          <li key={at} class="output">
            <OutputForm output={output} others={list} set={(next) => replace(at, next)} />
          </li>
        ))}
      </ol>
      <fieldset class="row" aria-label="Add an output">
        {GOAL_NAMES.map((goal) => (
          <button
            type="button"
            key={goal}
            onClick={() =>
              set(outputsSection(outputsOf(goal).reduce<Output[]>((all, next) => withOutput(all, next), list)))
            }
          >
            <Icon name="add" /> {GOALS[goal].label}
          </button>
        ))}
      </fieldset>
    </details>
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
  const change = (path: readonly string[], value: unknown): void =>
    set({ ...output, params: withValue(section, path, value) });
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
      {kind !== "stream" && <FormatSlots format={format} set={(next) => set({ ...output, format: next })} />}
      {kind === "stream" && (
        <Ladder
          variants={section.variants}
          name={`outputs.${name}`}
          planKey={String(section.key ?? name)}
          set={(variants) => change(["variants"], variants)}
        />
      )}
      <Fields fields={OUTPUT_FIELDS[kind]} name={`outputs.${name}`} section={section} change={change} />
    </>
  );
}

/** Takes a format as it is typed. While another output has the typed format, waits until the field loses the focus. */
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
          // Only a waiting format keeps its own text, because the lists may change the format meanwhile.
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
