// ffprobe's data about the input and the outputs, as a tree and as JSON.
import { useState } from "preact/hooks";
import type { JobMetadata } from "../../../client/index.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Button } from "../../parts/controls/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import type { Resource } from "../../parts/use-resource.ts";

export const Metadata = ({ of }: { readonly of: Resource<JobMetadata> }) => (
  <Loaded of={of} what="the metadata">
    {(value) => <Shown value={value} />}
  </Loaded>
);

function Shown({ value }: { readonly value: JobMetadata }) {
  const [isRaw, showRaw] = useState(false);
  const { input, outputs, ultrafast } = value.metadata;
  const entries: readonly (readonly [string, unknown])[] = [
    ...(Object.keys(input).length > 0 ? [["input", input] as const] : []),
    ...outputs.flatMap((output) => Object.entries(output)),
    ...(ultrafast ? [["ultrafast", ultrafast] as const] : []),
  ];
  if (entries.length === 0)
    return <Empty title="No metadata yet">It is there when the input has been inspected.</Empty>;
  return (
    <div class="stack">
      <div class="row">
        <Button text="Tree" aria-pressed={!isRaw} onClick={() => showRaw(false)} />
        <Button text="Raw" aria-pressed={isRaw} onClick={() => showRaw(true)} />
      </div>
      {isRaw ? (
        <CodeBlock label={`GET /v2/metadata/jobs/${value.job_id}`} text={JSON.stringify(value, null, 2)} />
      ) : (
        <div class="tree mono">
          {entries.map(([name, inner], at) => (
            <Tree key={name} name={name} value={inner} isOpen={at === 0} />
          ))}
        </div>
      )}
    </div>
  );
}

/** JSON as a tree that people expand and collapse. */
type Props = { readonly name: string; readonly value: unknown; readonly isOpen?: boolean };

function Tree({ name, value, isOpen = false }: Props) {
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

/** The values that distinguish streams. */
const briefOf = (value: Record<string, unknown>): string =>
  ["codec_type", "codec_name", "format_name", "width", "height"]
    .flatMap((key) => (typeof value[key] === "string" || typeof value[key] === "number" ? [String(value[key])] : []))
    .join(" ");
