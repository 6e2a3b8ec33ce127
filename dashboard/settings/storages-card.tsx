// Saved storages: test, edit, rename, delete.
import { useState } from "preact/hooks";
import { CopraError, type SavedStorage, type Storage } from "../../client/index.ts";
import { copra } from "../core/service.ts";
import { FormErrorsContext } from "../new-job/form/form-context.ts";
import { ServiceForm } from "../new-job/form/service-form.tsx";
import { TestStorage } from "../new-job/form/storage-form.tsx";
import { STORAGES } from "../new-job/request/section-fields.ts";
import { isObject, type Json } from "../new-job/secrets.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { FormDialog } from "../parts/overlays/form-dialog.tsx";
import { report, toast, toastError } from "../parts/overlays/toasts.tsx";
import { Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import "../new-job/new-job.css";

/** The templates whose jobs use a storage, as a sentence; empty without templates. */
async function usersOf(storage: string): Promise<string> {
  const users = (await copra.templates.list()).filter(({ saved_storage }) => saved_storage === storage);
  return users.length === 0 ? "" : ` These templates use it: ${users.map(({ name }) => name).join(", ")}.`;
}

export function StoragesCard({ account }: { readonly account: string }) {
  const saved = useResource((signal) => copra.storages.list({ signal }), [account]);
  const [edited, setEdited] = useState<{ readonly storage: SavedStorage; readonly users: string } | null>(null);
  const edit = async (name: string): Promise<void> => {
    const storage = await copra.storages.get(name);
    setEdited({ storage, users: await usersOf(name) });
  };
  const remove = async (name: string): Promise<void> => {
    const text = `Jobs that name it are refused from now on; existing jobs continue.${await usersOf(name)}`;
    if (!(await confirm({ title: `Delete ${name}?`, text, action: "Delete", danger: true }))) return;
    await report(copra.storages.delete(name), `${name} is deleted`);
    saved.reload();
  };
  return (
    <Card title="Saved storages">
      <Loaded of={saved}>
        {(rows) => (
          <Table
            label="List of saved storages"
            rows={rows}
            keyOf={({ name }) => name}
            empty="There are none yet. The form of a new job saves its storage."
            columns={[
              ["Name", ({ name }) => name, "head"],
              [
                "Change",
                ({ name }) => (
                  <div class="row">
                    <Button text="Edit" of={name} onClick={() => edit(name).catch(toastError)} />
                    <Button text="Delete" of={name} class="danger" onClick={() => remove(name).catch(toastError)} />
                  </div>
                ),
              ],
              ["Test", ({ name, created_at }) => <TestStorage key={created_at} name={name} />],
              ["Saved", ({ created_at }) => <Time at={created_at} />],
            ]}
          />
        )}
      </Loaded>
      {edited && (
        <EditDialog
          {...edited}
          others={saved.value?.map(({ name }) => name) ?? []}
          close={() => {
            setEdited(null);
            saved.reload();
          }}
        />
      )}
    </Card>
  );
}

type EditProps = {
  readonly storage: SavedStorage;
  readonly users: string;
  readonly others: readonly string[];
  readonly close: () => void;
};

function EditDialog({ storage: { name, storage }, users, others, close }: EditProps) {
  const [section, setSection] = useState<Json>(storage);
  const form = useForm(async ({ text }) => {
    const next = text("name");
    if (next !== name && others.includes(next)) throw new Error(`There is another storage with the name ${next}`);
    // The service adds the secrets of the earlier storage.
    await copra.storages.put(next, { use: name, ...changes(storage, section) } as unknown as Storage);
    if (next !== name) await copra.storages.delete(name);
    toast(`${next} is saved`);
    close();
  });
  const { error } = form;
  const invalid = error instanceof CopraError ? { field: error.field, message: error.message } : null;
  return (
    <FormDialog title={`Edit ${name}`} close={close} action="Save" form={form}>
      <Field
        label="Name"
        name="name"
        defaultValue={name}
        required
        help={`Jobs that name ${name} are refused after another name.${users}`}
      />
      <FormErrorsContext.Provider value={{ invalid, missing: [], plan: null }}>
        <ServiceForm
          name="storage"
          member="service"
          label="Where outputs go"
          services={STORAGES}
          section={section}
          set={setSection}
        />
      </FormErrorsContext.Provider>
      <p class="help">Secrets are not shown. Empty fields keep them, for the same service, bucket and account.</p>
    </FormDialog>
  );
}

/** The section after an edit, in which null removes a member of the section before. */
const changes = (before: Json, after: Json): Json => ({
  ...Object.fromEntries(Object.keys(before).map((name) => [name, null])),
  ...Object.fromEntries(
    Object.entries(after).map(([name, value]) => {
      const old = before[name];
      return [name, isObject(value) && isObject(old) ? changes(old, value) : value];
    }),
  ),
});
