// JSON as a tree that opens and closes.

type Props = { readonly name: string; readonly value: unknown; readonly isOpen?: boolean };

export function Tree({ name, value, isOpen = false }: Props) {
  if (typeof value !== "object" || value === null) {
    return (
      <div class="leaf">
        <span class="name">{name}</span> <span class={`value ${typeof value}`}>{String(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  return (
    <details class="branch" open={isOpen}>
      <summary>
        <span class="name">{name}</span>{" "}
        <span class="muted">{isList ? `${entries.length} entries` : briefOf(value as Record<string, unknown>)}</span>
      </summary>
      <div class="inner">
        {entries.map(([key, inner]) => (
          <Tree key={key} name={isList ? `[${key}]` : key} value={inner} isOpen={isOpen && entries.length <= 3} />
        ))}
      </div>
    </details>
  );
}

/** What distinguishes streams. */
const briefOf = (value: Record<string, unknown>): string =>
  ["codec_type", "codec_name", "format_name", "width", "height"]
    .flatMap((key) => (typeof value[key] === "string" || typeof value[key] === "number" ? [String(value[key])] : []))
    .join(" ");
