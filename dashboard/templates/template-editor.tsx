// A template as JSON: edit, store, use, delete.
import { useId, useState } from "preact/hooks";
import type { Template } from "../../client/index.ts";
import { copra } from "../core/service.ts";
import { Icon } from "../parts/icon.tsx";
import { Loading } from "../parts/loading.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { useResource } from "../parts/use-resource.ts";
import { UseDialog } from "./use-dialog.tsx";

type Done = (name: string | null) => void;

/** The newest version of a template. */
export function StoredTemplate({ name, done }: { readonly name: string; readonly done: Done }) {
  const { value, error, reload } = useResource((signal) => copra.templates.get(name, { signal }), [name]);
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (value === undefined) return <Loading what="the template" />;
  const stored: Done = (changed) => {
    reload();
    done(changed);
  };
  return <TemplateEditor key={value.version} stored={value} body={value.template} done={stored} />;
}

/** `stored` is null for a new template. `done` receives the name of the stored template, or null after its deletion. */
export function TemplateEditor({
  stored,
  body,
  done,
}: {
  readonly stored: Template | null;
  readonly body: object;
  readonly done: Done;
}) {
  const id = useId();
  const [name, setName] = useState(stored?.name ?? "");
  const [text, setText] = useState(() => JSON.stringify(body, null, 2));
  const [error, setError] = useState<unknown>(null);
  const [isUsing, setUsing] = useState(false);
  const save = async (): Promise<void> => {
    try {
      const options = { ifVersion: stored?.version ?? 0, keepSecrets: true };
      const { version } = await copra.templates.put(name, JSON.parse(text), options);
      toast(`${name}@${version} is stored`);
      done(name);
    } catch (reason) {
      setError(reason);
    }
  };
  const remove = async (): Promise<void> => {
    const question = "All its versions are deleted. Jobs that name it are refused from now on.";
    if (!(await confirm({ title: `Delete ${name}?`, text: question, action: "Delete", danger: true }))) return;
    await copra.templates.delete(name).then(() => done(null), toastError);
  };
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <header>
        <h2 id={`${id}-title`}>{stored ? `${stored.name}@${stored.version}` : "New template"}</h2>
        <div class="row">
          {stored && (
            <>
              <button type="button" onClick={() => setUsing(true)}>
                <Icon name="play" /> Use
              </button>
              <button type="button" class="danger" onClick={remove}>
                Delete
              </button>
            </>
          )}
          <button type="button" class="primary" disabled={name === ""} onClick={save}>
            {stored ? "Store a new version" : "Store"}
          </button>
        </div>
      </header>
      <div class="body stack">
        {error !== null && <Problem error={error} />}
        {!stored && (
          <div class="field">
            <label for={`${id}-name`}>Name</label>
            <input id={`${id}-name`} value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </div>
        )}
        <div class="field">
          <label for={`${id}-text`}>Sections of a job, with variables such as {"{{ vars.id }}"}</label>
          <textarea
            id={`${id}-text`}
            class="mono"
            rows={24}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        {stored && stored.left_out.length > 0 && (
          <p class="detail">
            Not shown, because it is secret, and kept while the service, bucket and host stay the same:{" "}
            {stored.left_out.join(", ")}
          </p>
        )}
      </div>
      {stored && isUsing && <UseDialog template={stored} close={() => setUsing(false)} />}
    </section>
  );
}
