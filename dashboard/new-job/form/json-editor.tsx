// The request as JSON, which can be edited; the form shows the same.
import { useId, useState } from "preact/hooks";
import { CopyButton } from "../../parts/copy-button.tsx";
import { isObject } from "../request/edit.ts";
import { printJson } from "../request/print.ts";
import { type Json, masked, unmasked } from "../secrets.ts";

export function JsonEditor({ request, set }: { readonly request: Json; readonly set: (request: Json) => void }) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const text = typed ?? JSON.stringify(masked(request), null, 2);
  const edit = (value: string): void => {
    setTyped(value);
    try {
      const parsed: unknown = JSON.parse(value);
      if (!isObject(parsed)) throw new Error("The request must be a JSON object");
      setError(null);
      set(unmasked(parsed, request));
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : String(reason));
    }
  };
  return (
    <div class="field">
      <div class="row">
        <label for={id}>Body of POST /v2/jobs</label>
        <span class="spring">
          <CopyButton text={() => printJson(request)} />
        </span>
      </div>
      <textarea
        id={id}
        class="json"
        rows={24}
        spellcheck={false}
        value={text}
        aria-invalid={error === null ? undefined : true}
        aria-describedby={`${id}-below`}
        onInput={(event) => edit(event.currentTarget.value)}
        onBlur={() => {
          // What is no JSON stays, so that it can be repaired.
          if (error === null) setTyped(null);
        }}
      />
      <p id={`${id}-below`} class={error === null ? "help" : "invalid"}>
        {error ?? "Edit it: the form follows. Secrets are hidden, and kept unless you replace them."}
      </p>
    </div>
  );
}
