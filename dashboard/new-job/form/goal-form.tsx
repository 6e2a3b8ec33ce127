// "What do you want?": the goals of the job, and size and quality of their outputs.
import { useContext, useId, useMemo } from "preact/hooks";
import { Select } from "../../parts/controls/select.tsx";
import { GOAL_NAMES, GOALS, goalsIn, matters, QUALITIES, SIZES, type Wanted, withGoals } from "../request/goals.ts";
import { outputList, outputsSection } from "../request/output-list.ts";
import type { Json } from "../secrets.ts";
import { Below } from "./field.tsx";
import { FormErrorsContext, useFieldError } from "./form-context.ts";
import { totalOf } from "./plan-view.tsx";

type Props = { readonly wanted: Wanted; readonly change: (changed: Partial<Wanted>) => void };

export function GoalForm({ outputs, set }: { readonly outputs: unknown; readonly set: (outputs: Json) => void }) {
  const list = useMemo(() => outputList(outputs), [outputs]);
  const wanted = useMemo(() => goalsIn(list), [list]);
  const error = useFieldError("outputs");
  const change = (changed: Partial<Wanted>): void => set(outputsSection(withGoals(list, { ...wanted, ...changed })));
  const others = wanted.others.length;
  return (
    <fieldset class="card">
      <legend>What do you want?</legend>
      <Goals wanted={wanted} change={change} />
      {others > 0 && <p class="muted">Outputs with other settings: {others}, see Advanced.</p>}
      {list.length === 0 && <Below id={undefined} error={error} help="Choose at least one." />}
      <SizeAndQuality wanted={wanted} change={change} />
    </fieldset>
  );
}

function Goals({ wanted: { kinds: chosen }, change }: Props) {
  return GOAL_NAMES.map((goal) => {
    const { label, help, kinds } = GOALS[goal];
    const choose = (kind: string | undefined): void => change({ kinds: { ...chosen, [goal]: kind } });
    const kind = chosen[goal];
    return (
      <div class="goal" key={goal}>
        <label class="check">
          <input
            type="checkbox"
            // Messages about all outputs lead to the first goal.
            data-field={goal === GOAL_NAMES[0] ? "outputs" : undefined}
            checked={kind !== undefined}
            onChange={({ currentTarget }) => choose(currentTarget.checked ? kinds[0] : undefined)}
          />
          <span>
            <strong>{label}</strong> <span class="muted">{help}</span>
          </span>
        </label>
        {kind !== undefined && kinds.length > 1 && (
          <Select
            label={`${label} as`}
            options={Object.fromEntries(kinds.map((name) => [name, name.toUpperCase()]))}
            value={kind}
            choose={choose}
          />
        )}
      </div>
    );
  });
}

function SizeAndQuality({ wanted, change }: Props) {
  const id = useId();
  const { plan } = useContext(FormErrorsContext);
  const { choice } = wanted;
  return (
    <>
      {matters(wanted, { size: "480p" }) && (
        <fieldset class="row choice">
          <legend>Size</legend>
          {Object.entries(SIZES).map(([size, label]) => (
            <label class="check" key={size}>
              <input
                type="radio"
                name={id}
                checked={size === choice.size}
                onChange={() => change({ choice: { ...choice, size } })}
              />
              {label}
            </label>
          ))}
          {choice.size !== "" && <span class="muted">Smaller sources are enlarged.</span>}
        </fieldset>
      )}
      {matters(wanted, { quality: QUALITIES[0] }) && (
        <div class="row choice">
          <label for={id}>Quality</label>
          <span class="muted">smaller</span>
          <input
            id={id}
            type="range"
            min={QUALITIES[0]}
            max={QUALITIES.at(-1)}
            value={choice.quality}
            aria-describedby={`${id}-total`}
            onInput={({ currentTarget: { valueAsNumber: quality } }) => change({ choice: { ...choice, quality } })}
          />
          <span class="muted">better</span>
          <output id={`${id}-total`}>{plan === null ? "…" : totalOf(plan)}</output>
        </div>
      )}
    </>
  );
}
