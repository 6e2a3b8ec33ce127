// The lists to choose the parts of a format.
import { useId } from "preact/hooks";
import {
  CONTAINER_NAMES,
  choicesOf,
  containerOf,
  type Slot as SlotName,
  slotOf,
  withContainer,
  withSlot,
} from "../request/slots.ts";

const SLOTS: readonly { readonly slot: SlotName; readonly label: string; readonly none: string }[] = [
  { slot: "size", label: "Size", none: "as the source" },
  { slot: "codec", label: "Video", none: "default codec" },
  { slot: "rate", label: "Rate", none: "automatic" },
  { slot: "cap", label: "Cap", none: "none" },
  { slot: "fps", label: "Frame rate", none: "as the source" },
  { slot: "audio", label: "Audio", none: "default codec" },
  { slot: "audioRate", label: "Audio rate", none: "automatic" },
  { slot: "channels", label: "Channels", none: "as the source" },
];
/** The text of a token for people: `none`, `VMAF 93`, `234p`. */
const titleOf = (token: string): string =>
  token === "x"
    ? "none"
    : token
        .replace("quality=vmaf", "VMAF ")
        .replace("quality=", "quality ")
        .replace("maxrate=", "")
        .replace(/^0?x(\d+)$/, "$1p");

export function FormatSlots({ format, set }: { readonly format: string; readonly set: (format: string) => void }) {
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

function Slot({ label, ...choices }: Omit<Parameters<typeof Choices>[0], "id">) {
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <Choices id={id} {...choices} />
    </div>
  );
}

/** A list of tokens. `label`: its name without an own label. `none`: the meaning of the empty choice, if it has one. */
export function Choices({
  id,
  label,
  none,
  value,
  values,
  choose,
}: {
  readonly id?: string;
  readonly label?: string;
  readonly none?: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly choose: (text: string) => void;
}) {
  return (
    <select id={id} aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {none !== undefined && <option value="">{none}</option>}
      {withOwn(values, value).map((choice) => (
        <option key={choice} value={choice}>
          {titleOf(choice)}
        </option>
      ))}
    </select>
  );
}

const withOwn = (known: readonly string[], value: string): readonly string[] =>
  value === "" || known.includes(value) ? known : [value, ...known];
