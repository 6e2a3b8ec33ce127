// Creates a job from a template: its source, and the values of its variables.
import { useId, useState } from "preact/hooks";
import type { Template } from "../../client/index.ts";
import { navigate } from "../core/location.ts";
import { copra } from "../core/service.ts";
import { Dialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";

export function UseDialog({ template, close }: { readonly template: Template; readonly close: () => void }) {
  const id = useId();
  const [url, setUrl] = useState("");
  const [vars, setVars] = useState<Readonly<Record<string, string>>>({});
  const [error, setError] = useState<unknown>(null);
  const send = (): void => {
    const given = Object.fromEntries(Object.entries(vars).filter(([, value]) => value !== ""));
    const request = { template: `${template.name}@${template.version}`, vars: given };
    copra.jobs.create(url === "" ? request : { ...request, input: { url } }).then(({ id: job }) => {
      close();
      navigate(`/jobs/${job}`);
    }, setError);
  };
  return (
    <Dialog title={`A job from ${template.name}@${template.version}`} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div class="dialog-body stack">
          {error !== null && <Problem error={error} />}
          <div class="field">
            <label for={`${id}-url`}>URL of the source; empty: that of the template</label>
            <input id={`${id}-url`} type="url" value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
          </div>
          {template.variables.map((name) => (
            <div class="field" key={name}>
              <label for={`${id}-${name}`}>{name}</label>
              <input
                id={`${id}-${name}`}
                value={vars[name] ?? ""}
                onInput={({ currentTarget: { value } }) => setVars((before) => ({ ...before, [name]: value }))}
              />
            </div>
          ))}
        </div>
        <footer>
          <button type="button" onClick={close}>
            Back
          </button>
          <button type="submit" class="primary">
            Create the job
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
