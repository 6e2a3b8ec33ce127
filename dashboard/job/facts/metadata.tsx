// ffprobe's data about the input and the outputs, as a tree and as it is.
import { useState } from "preact/hooks";
import { copra } from "../../core/service.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useResource } from "../../parts/use-resource.ts";
import { Tree } from "./tree.tsx";

/** `changes` with what may have added metadata. */
export function Metadata({ id, changes }: { readonly id: string; readonly changes: string }) {
  const { value, error, reload } = useResource(
    (signal) => copra.jobs.metadata(id, undefined, { signal }),
    [id, changes],
  );
  const [isRaw, showRaw] = useState(false);
  if (value === undefined && error !== undefined) return <Problem error={error} retry={reload} />;
  if (value === undefined) return <Loading what="the metadata" />;
  const { input, outputs, ultrafast } = value.metadata;
  const entries: [string, unknown][] = [
    ...(Object.keys(input).length > 0 ? [["input", input] satisfies [string, unknown]] : []),
    ...outputs.flatMap((one) => Object.entries(one)),
    ...(ultrafast ? [["ultrafast", ultrafast] satisfies [string, unknown]] : []),
  ];
  if (entries.length === 0)
    return <Empty title="No metadata yet">It is there when the input has been inspected.</Empty>;
  return (
    <div class="stack">
      <div class="row">
        <button type="button" aria-pressed={!isRaw} onClick={() => showRaw(false)}>
          Tree
        </button>
        <button type="button" aria-pressed={isRaw} onClick={() => showRaw(true)}>
          Raw
        </button>
      </div>
      {isRaw ? (
        <CodeBlock label={`GET /v2/metadata/jobs/${id}`} text={JSON.stringify(value, null, 2)} />
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
