// "What do you want?": the goals of the job, and size and quality of their outputs.
import { useContext, useId, useMemo } from "preact/hooks";
import { Select } from "../../parts/controls/select.tsx";
import {
  GOAL_NAMES,
  GOALS,
  type GoalName,
  goalsIn,
  kindsOf,
  matters,
  QUALITIES,
  SIZES,
  type Wanted,
  withGoals,
} from "../request/goals.ts";
import { outputList, outputsSection } from "../request/output-list.ts";
import type { Json } from "../secrets.ts";
import { Below } from "./field.tsx";
import { FormErrorsContext, useFieldError } from "./form-context.ts";
import { totalOf } from "./plan-view.tsx";

export function GoalForm({ outputs, set }: { readonly outputs: unknown; readonly set: (outputs: Json) => void }) {
  const list = useMemo(() => outputList(outputs), [outputs]);
  const wanted = useMemo(() => goalsIn(list), [list]);
  const error = useFieldError("outputs");
  const change = (changed: Partial<Wanted>): void => set(outputsSection(withGoals(list, { ...wanted, ...changed })));
  const others = wanted.others.length;
  return (
    <fieldset class="card">
      <legend>What do you want?</legend>
      <div class="goals">
        {GOAL_NAMES.map((goal) => (
          <Goal
            key={goal}
            goal={goal}
            kind={wanted.kinds[goal]}
            choose={(kind) => change({ kinds: { ...wanted.kinds, [goal]: kind } })}
          />
        ))}
      </div>
      {others > 0 && (
        <p class="help">
          And {others} {others === 1 ? "output" : "outputs"} with other settings: see Advanced.
        </p>
      )}
      <Below id={undefined} error={error} help={list.length === 0 ? "Choose at least one." : undefined} />
      <SizeAndQuality wanted={wanted} change={(choice) => change({ choice: { ...wanted.choice, ...choice } })} />
    </fieldset>
  );
}

function Goal({
  goal,
  kind,
  choose,
}: {
  readonly goal: GoalName;
  readonly kind: string | undefined;
  readonly choose: (kind: string | undefined) => void;
}) {
  const { label, help } = GOALS[goal];
  const kinds = Object.keys(kindsOf(goal));
  return (
    <div class="goal">
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
          options={Object.fromEntries(kinds.map((name) => [name, name]))}
          value={kind}
          choose={choose}
        />
      )}
    </div>
  );
}

function SizeAndQuality({
  wanted,
  change,
}: {
  readonly wanted: Wanted;
  readonly change: (choice: Partial<Wanted["choice"]>) => void;
}) {
  const id = useId();
  const { plan } = useContext(FormErrorsContext);
  const { size, quality } = wanted.choice;
  return (
    <>
      {matters(wanted, { size: "480p" }) && (
        <fieldset class="row choice">
          <legend>Size</legend>
          {Object.entries(SIZES).map(([value, label]) => (
            <label class="check" key={value}>
              <input type="radio" name={id} checked={value === size} onChange={() => change({ size: value })} />
              {label}
            </label>
          ))}
          {size !== "" && <span class="muted">Smaller sources are enlarged.</span>}
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
            value={quality}
            aria-describedby={`${id}-total`}
            onInput={({ currentTarget }) => change({ quality: currentTarget.valueAsNumber })}
          />
          <span class="muted">better</span>
          <output id={`${id}-total`}>{plan === null ? "…" : totalOf(plan)}</output>
        </div>
      )}
    </>
  );
}
