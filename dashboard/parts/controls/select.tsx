type Props<Value extends string> = {
  readonly id?: string;
  readonly name?: string;
  /** The name of the choice, if it has no visible label. */
  readonly label?: string;
  /** Texts by values. */
  readonly options: Readonly<Record<string, string>>;
  readonly value?: Value;
  readonly choose?: (value: Value) => void;
};

/** A choice of one of several texts. */
export const Select = <Value extends string>({ label, options, choose, ...rest }: Props<Value>) => (
  <select aria-label={label} {...rest} onChange={({ currentTarget }) => choose?.(currentTarget.value as Value)}>
    {Object.entries(options).map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
);
