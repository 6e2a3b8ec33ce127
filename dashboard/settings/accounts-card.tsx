// The accounts of the service with their limits; for the operator.
import { useState } from "preact/hooks";
import type { AccountList, Limits, NewAccount } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { account, chooseAccount } from "../core/session.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Field, type Fields, useForm } from "../parts/controls/form.tsx";
import { ShownOnce } from "../parts/controls/shown-once.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { FormDialog } from "../parts/overlays/form-dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import "./settings.css";

type Row = AccountList["accounts"][number];

/** Limits of accounts. `none`: the meaning of null. */
const LIMITS = [
  { name: "max_unfinished_jobs", label: "Jobs at most", none: "the service's", min: 1 },
  { name: "max_running", label: "Tasks at most", none: "any", min: 1 },
  { name: "max_priority", label: "Priority at most", none: "none", min: -50 },
  { name: "weight", label: "Weight", none: "1", min: 1 },
] as const satisfies readonly { readonly name: keyof Limits; [other: string]: string | number }[];

const limitsOf = ({ text }: Fields): Limits =>
  Object.fromEntries(LIMITS.map(({ name }) => [name, text(name) === "" ? null : Number(text(name))]));

const LimitFields = ({ of: row }: { readonly of?: Row }) =>
  LIMITS.map(({ name, label, none, min }) => (
    <Field
      key={name}
      label={label}
      name={name}
      type="number"
      min={min}
      placeholder={none}
      required={name === "weight"}
      defaultValue={String(row?.[name] ?? (name === "weight" ? 1 : ""))}
    />
  ));

/** The page without a chosen account. */
export default function AccountsPage() {
  return (
    <>
      <div class="page-head">
        <h1>Choose an account</h1>
      </div>
      <div class="settings">
        <AccountsCard />
      </div>
    </>
  );
}

export function AccountsCard() {
  const accounts = useResource((signal) => admin.accounts.list({ signal }), []);
  const [edited, setEdited] = useState<Row | null>(null);
  const close = (): void => {
    setEdited(null);
    accounts.reload();
  };
  const actions: Column<Row> = [
    "Actions",
    ({ id, name, ...rest }) => (
      <div class="row">
        <Button
          text="Choose"
          of={name}
          disabled={id === account.value?.id}
          onClick={() => chooseAccount({ id, name })}
        />
        <Button text="Limits" of={name} onClick={() => setEdited({ id, name, ...rest })} />
      </div>
    ),
  ];
  return (
    <Card title="Accounts">
      <Loaded of={accounts}>
        {(rows) => (
          <Table
            label="List of accounts"
            columns={[NAME, actions, ...COLUMNS]}
            rows={rows}
            keyOf={({ id }) => id}
            empty="There is no account yet. Jobs, API keys and webhooks belong to an account."
          />
        )}
      </Loaded>
      <NewAccountForm reload={accounts.reload} />
      {edited && <LimitsDialog of={edited} close={close} />}
    </Card>
  );
}

function NewAccountForm({ reload }: { readonly reload: () => void }) {
  const [created, setCreated] = useState<{ readonly name: string; readonly key: NewAccount } | null>(null);
  const { onSubmit, isBusy, error } = useForm(async (fields) => {
    const name = fields.text("name");
    const key = await admin.accounts.create(name);
    setCreated({ name, key });
    fields.form.reset();
    await admin.accounts.setLimits(key.account_id, limitsOf(fields)).finally(reload);
  });
  return (
    <form class="section stack" onSubmit={onSubmit}>
      <div class="row">
        <Field label="Name" name="name" required maxLength={100} placeholder="default" />
        <LimitFields />
        <Button type="submit" text="Create an account" class="primary" disabled={isBusy} />
      </div>
      <Problem error={error} />
      {created && (
        <ShownOnce label={`API key of ${created.name}`} text={created.key.api_key} close={() => setCreated(null)}>
          It is shown once, as is the secret that signs webhooks: <code>{created.key.webhook_secret}</code>
        </ShownOnce>
      )}
    </form>
  );
}

const NAME: Column<Row> = ["Name", ({ name }) => name, "head"];
const COLUMNS: readonly Column<Row>[] = [
  ["Id", ({ id }) => id, "mono"],
  ...LIMITS.map(
    ({ name, label, none }): Column<Row> => [label, (row) => row[name] ?? <span class="muted">{none}</span>],
  ),
  ["Created", ({ created_at }) => <Time at={created_at} />],
];

function LimitsDialog({ of: row, close }: { readonly of: Row; readonly close: () => void }) {
  const form = useForm(async (fields) => {
    await admin.accounts.setLimits(row.id, limitsOf(fields));
    close();
  });
  return (
    <FormDialog title={`Limits of ${row.name}`} close={close} action="Save" form={form}>
      <LimitFields of={row} />
    </FormDialog>
  );
}
