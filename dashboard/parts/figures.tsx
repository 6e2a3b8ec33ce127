export type Figure = readonly [name: string, value: string, detail?: string];

/** The most important numbers of a page, large. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="key-figures">
      {figures.map(([name, value, detail]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {detail !== undefined && <dd class="detail">{detail}</dd>}
        </div>
      ))}
    </dl>
  );
}
