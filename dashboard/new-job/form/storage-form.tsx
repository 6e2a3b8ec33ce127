// Where outputs go: a service, or a saved storage. A storage can be saved and tested here.
import { useId, useState } from "preact/hooks";
import type { Storage, StorageTest } from "../../../client/index.ts";
import { copra } from "../../core/service.ts";
import { Problem } from "../../parts/problem.tsx";
import { useResource } from "../../parts/use-resource.ts";
import { textAt } from "../request/edit.ts";
import { STORAGES } from "../request/section-fields.ts";
import type { Json } from "../secrets.ts";
import { ServiceForm } from "./service-form.tsx";

const PATH = (STORAGES.coconut?.fields ?? []).filter(({ member }) => member === "path");

export function StorageForm({ section, set }: { readonly section: Json; readonly set: (section: Json) => void }) {
  const id = useId();
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>(null);
  const { value: saved = [], reload } = useResource((signal) => copra.storages.list({ signal }), []);
  const use = textAt(section, ["use"]);
  const services = {
    ...Object.fromEntries(
      saved.map((storage) => [`use:${storage.name}`, { label: `Saved: ${storage.name}`, fields: PATH }]),
    ),
    ...STORAGES,
  };
  const save = (): void => {
    setError(null);
    // The service validates the storage. From then on, this page has no keys.
    copra.storages.put(name, section as Storage).then(() => {
      set({ use: name });
      reload();
    }, setError);
  };
  return (
    <>
      <ServiceForm
        name="storage"
        member="service"
        label="Where outputs go"
        services={services}
        section={section}
        set={set}
      />
      {use !== "" && <TestStorage key={use} name={use} />}
      {use === "" && section.service !== "coconut" && (
        <div class="read-source">
          <label for={id}>Save it as</label>
          <input id={id} value={name} autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
          <button type="button" disabled={name === ""} onClick={save}>
            Save
          </button>
        </div>
      )}
      {error !== null && <Problem error={error} />}
    </>
  );
}

const STEPS = { store: "Store", read: "Read", web: "Read from web pages", remove: "Remove" } as const;
const SIGNS = { passed: "✓", failed: "✕", skipped: "⊘" } as const;
const CLASSES = { passed: "status ok", failed: "status bad", skipped: "status" } as const;

/** Stores, reads and removes a small object. */
export function TestStorage({ name }: { readonly name: string }) {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly result?: StorageTest; error?: unknown }>({
    isBusy: false,
  });
  const test = (): void => {
    setState({ isBusy: true });
    copra.storages.test(name).then(
      (result) => setState({ isBusy: false, result }),
      (error: unknown) => setState({ isBusy: false, error }),
    );
  };
  return (
    <div class="read-source" aria-live="polite">
      <button type="button" disabled={state.isBusy} onClick={test}>
        {state.isBusy ? "Testing …" : "Test it"}
      </button>
      {state.result?.steps.map(({ step, status, error }) => (
        <span key={step} class={CLASSES[status]}>
          <span aria-hidden="true">{SIGNS[status]}</span> {STEPS[step]}: {error ?? status}
        </span>
      ))}
      {state.error !== undefined && <Problem error={state.error} />}
    </div>
  );
}
