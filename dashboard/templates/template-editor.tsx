// A template as JSON: edit, store, use, delete.
import { useState } from "preact/hooks";
import { CopraError, type NewIngestToken, type NewTemplate, type Template } from "../../client/index.ts";
import { copra } from "../core/service.ts";
import { JsonEditor } from "../new-job/json/json-editor.tsx";
import type { Json } from "../new-job/secrets.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Field } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { UseDialog } from "./use-dialog.tsx";

type Done = (name: string | null) => void;

/** The newest version of a template. */
export function StoredTemplate({ name, done }: { readonly name: string; readonly done: Done }) {
  const template = useResource((signal) => copra.templates.get(name, { signal }), [name]);
  const stored: Done = (changed) => {
    template.reload();
    done(changed);
  };
  return (
    <Loaded of={template} what="the template">
      {(value) => (
        <>
          <TemplateEditor key={value.version} stored={value} body={value.template} done={stored} />
          <EventUrls name={name} />
        </>
      )}
    </Loaded>
  );
}

/** The tokens with which events of buckets start jobs of the template. */
function EventUrls({ name }: { readonly name: string }) {
  const tokens = useResource((signal) => copra.templates.tokens(name, { signal }), [name]);
  const revoke = async (id: string): Promise<void> => {
    const question = "Events of buckets that use its URL start no more jobs.";
    if (!(await confirm({ title: "Revoke this token?", text: question, action: "Revoke", danger: true }))) return;
    await copra.templates.deleteToken(name, id).then(tokens.reload, toastError);
  };
  const [created, setCreated] = useState<NewIngestToken | null>(null);
  const create = async (): Promise<void> => {
    await copra.templates.createToken(name).then(setCreated, toastError);
    tokens.reload();
  };
  const columns: readonly Column<{ readonly id: string; readonly created_at: string }>[] = [
    ["Token", ({ id }) => <span class="mono">{id}</span>],
    ["Created", ({ created_at }) => <Time at={created_at} />],
    ["Action", ({ id }) => <Button text="Revoke" of={id} class="danger" onClick={() => revoke(id)} />],
  ];
  return (
    <Card title="Events of buckets" actions={<Button icon="add" text="Create a URL" onClick={create} />}>
      {created && (
        <div class="body">
          <ShownOnce label={`URL of the token ${created.id}`} text={created.url} close={() => setCreated(null)}>
            It is shown once. Let the bucket send its events there.
          </ShownOnce>
        </div>
      )}
      <Loaded of={tokens} what="the tokens">
        {(list) => list.length > 0 && <Table label="Tokens" columns={columns} rows={list} keyOf={({ id }) => id} />}
      </Loaded>
      <p class="body muted">
        New objects of a bucket start jobs of this template, if the bucket sends its events to the URL of a token (
        <a href="/docs/bucket-events">documentation</a>).
      </p>
    </Card>
  );
}

/** `stored` is null for a new template. `done` receives the name of the stored template, or null after its deletion. */
type Props = { readonly stored: Template | null; readonly body: Json; readonly done: Done };

export function TemplateEditor({ stored, body, done }: Props) {
  const [name, setName] = useState(stored?.name ?? "");
  const [edited, setEdited] = useState<Json | null>(body);
  const [error, setError] = useState<unknown>(null);
  const [isUsing, setUsing] = useState(false);
  const canSave = name !== "" && edited !== null;
  const save = async (): Promise<void> => {
    if (!canSave) return;
    setError(null);
    try {
      const options = { ifVersion: stored?.version ?? 0, keepSecrets: true };
      const { version } = await copra.templates.put(name, edited as NewTemplate, options);
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
  const actions = (
    <div class="row">
      {stored && <Button icon="play" text="Use" onClick={() => setUsing(true)} />}
      {stored && <Button text="Delete" class="danger" onClick={remove} />}
      <Button text={stored ? "Store a new version" : "Store"} class="primary" disabled={!canSave} onClick={save} />
    </div>
  );
  return (
    <Card title={stored ? `${stored.name}@${stored.version}` : "New template"} actions={actions}>
      <div class="body stack">
        <Problem error={error} />
        {!stored && <Field label="Name" value={name} onInput={(event) => setName(event.currentTarget.value)} />}
        <JsonEditor
          label="Sections of a job, with variables such as {{ vars.id }}"
          shown={edited ?? body}
          set={setEdited}
          send={save}
          invalid={error instanceof CopraError ? error : null}
          help="Ctrl Enter or ⌘ Enter stores it."
        />
        {stored && stored.left_out.length > 0 && (
          <p class="detail">
            Not shown, because it is secret, and kept while the service, bucket and host stay the same:{" "}
            {stored.left_out.join(", ")}
          </p>
        )}
      </div>
      {stored && isUsing && <UseDialog template={stored} close={() => setUsing(false)} />}
    </Card>
  );
}
