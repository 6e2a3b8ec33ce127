import type { ComponentChildren } from "preact";

export type Fact = readonly [name: string, value: ComponentChildren, detail?: string];

type Props = {
  /** Facts without a value are left out. */
  readonly facts: readonly Fact[];
  /** A table by default; `figures` in a line, in the size of the text or larger; `key-figures` in boxes. */
  readonly look?: "facts" | "figures" | "figures large" | "key-figures";
};

/** Names and values. */
export function Facts({ facts, look = "facts" }: Props) {
  const rows = facts.filter(([, value]) => value !== undefined && value !== null && value !== false);
  return (
    <dl class={look}>
      {rows.map(([name, value, detail]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {detail !== undefined && <dd class="detail">{detail}</dd>}
        </div>
      ))}
    </dl>
  );
}
