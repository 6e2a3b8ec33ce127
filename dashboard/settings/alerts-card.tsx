// Alerts of the service; for the operator.
import { useState } from "preact/hooks";
import type { Alert } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { type Fields, useForm } from "../parts/controls/form.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { report } from "../parts/overlays/toasts.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { AlertFields, alertOf, CONDITIONS, FIRST } from "./alert-fields.tsx";

export function AlertsCard() {
  const alerts = useResource((signal) => admin.alerts.list({ signal }), []);
  const accounts = useResource((signal) => admin.accounts.list({ signal }), []);
  const [choice, choose] = useState(FIRST);
  const act = async (action: Promise<unknown>, done: string): Promise<boolean> => {
    const isDone = await report(action, done);
    alerts.reload();
    return isDone;
  };
  const { onSubmit } = useForm(async (fields: Fields) => {
    const name = fields.text("name");
    if (await act(admin.alerts.put(name, alertOf(fields, choice)), `${name} is saved`)) fields.form.reset();
  });
  const remove = async (name: string): Promise<void> => {
    const text = <p>Its conditions are no longer evaluated.</p>;
    if (!(await confirm({ title: `Delete ${name}?`, text, action: "Delete", danger: true }))) return;
    await act(admin.alerts.delete(name), `${name} is deleted`);
  };
  const test = async (name: string): Promise<void> => {
    const { delivered, status, error } = await admin.alerts.test(name);
    if (!delivered) throw new Error(error ?? `HTTP ${status}`);
  };
  const actions = ({ name }: Alert) => (
    <>
      <Button text="Test" of={name} onClick={() => act(test(name), `${name}: test sent`)} />{" "}
      <Button text="Delete" of={name} class="danger" onClick={() => remove(name)} />
    </>
  );
  return (
    <Card title="Alerts">
      <form class="body stack" onSubmit={onSubmit}>
        <AlertFields {...choice} accounts={accounts.value ?? []} choose={choose} />
      </form>
      <Loaded of={alerts}>
        {(rows) =>
          rows.length > 0 && (
            <Table
              label="List of alerts"
              columns={[...COLUMNS, ["Actions", actions]]}
              rows={rows}
              keyOf={({ name }) => name}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  ["Name", ({ name }) => name],
  [
    "When",
    ({ when, firing }) => [CONDITIONS[when], ...firing.map((sentence) => <Bad key={sentence} text={sentence} />)],
  ],
  ["Sent to", ({ to }) => to.receiver],
  [
    "Last sent",
    ({ last_sent_at, last_error }) => (
      <>
        {last_sent_at === null ? <span class="muted">never</span> : <Time at={last_sent_at} />}
        {last_error !== null && <Bad text={last_error} />}
      </>
    ),
  ],
];

const Bad = ({ text }: { readonly text: string }) => <div class="status bad">{text}</div>;
