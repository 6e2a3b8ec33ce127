// Alerts of the service; for the operator.
import { useState } from "preact/hooks";
import type { Alert } from "../../client/index.ts";
import { admin } from "../core/service.ts";
import { Loading } from "../parts/loading.tsx";
import { confirm } from "../parts/overlays/dialog.tsx";
import { toast, toastError } from "../parts/overlays/toasts.tsx";
import { Problem } from "../parts/problem.tsx";
import { Scroll } from "../parts/scroll.tsx";
import { Time } from "../parts/time.tsx";
import { useResource } from "../parts/use-resource.ts";
import { AlertFields, alertOf, CONDITIONS, FIRST } from "./alert-fields.tsx";

export function AlertsCard() {
  const alerts = useResource((signal) => admin.alerts.list({ signal }), []);
  const [choice, choose] = useState(FIRST);
  const act = async (action: Promise<unknown>, done: string): Promise<boolean> => {
    const isDone = await action.then(() => true, toastError);
    if (isDone) toast(done);
    alerts.reload();
    return isDone === true;
  };
  const save = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const [name, alert] = alertOf(form, choice);
    if (await act(admin.alerts.put(name, alert), `${name} is saved`)) form.reset();
  };
  const remove = async (name: string): Promise<void> => {
    const text = <p>Its conditions are no longer evaluated.</p>;
    if (!(await confirm({ title: `Delete ${name}?`, text, action: "Delete", danger: true }))) return;
    await act(admin.alerts.delete(name), `${name} is deleted`);
  };
  const test = async (name: string): Promise<void> => {
    const { delivered, status, error } = await admin.alerts.test(name);
    if (!delivered) throw new Error(error ?? `HTTP ${status}`);
  };
  return (
    <section class="card wide" aria-labelledby="settings-alerts">
      <header>
        <h2 id="settings-alerts">Alerts</h2>
      </header>
      <form class="body row" onSubmit={save}>
        <AlertFields {...choice} choose={choose} />
        <button type="submit" class="bottom">
          Save alert
        </button>
      </form>
      {alerts.error !== undefined && <Problem error={alerts.error} retry={alerts.reload} />}
      {alerts.value === undefined && alerts.error === undefined && <Loading />}
      {alerts.value && alerts.value.length > 0 && (
        <Scroll label="List of alerts">
          <table>
            <thead>
              <tr>
                {["Name", "When", "Sent to", "Last sent", "Actions"].map((title) => (
                  <th key={title}>{title}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {alerts.value.map((alert) => (
                <Row
                  key={alert.name}
                  alert={alert}
                  test={() => act(test(alert.name), `${alert.name}: test sent`)}
                  remove={() => remove(alert.name)}
                />
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

type RowOptions = { readonly alert: Alert; readonly test: () => void; readonly remove: () => void };

function Row({ alert: { name, when, to, firing, last_sent_at, last_error }, test, remove }: RowOptions) {
  return (
    <tr>
      <td>{name}</td>
      <td>
        {CONDITIONS[when]}
        {firing.map((sentence) => (
          <div key={sentence} class="status bad">
            {sentence}
          </div>
        ))}
      </td>
      <td>{to.receiver}</td>
      <td>
        {last_sent_at === null ? <span class="muted">never</span> : <Time at={last_sent_at} />}
        {last_error !== null && <div class="status bad">{last_error}</div>}
      </td>
      <td>
        <button type="button" onClick={test}>
          Test<span class="visually-hidden"> {name}</span>
        </button>{" "}
        <button type="button" class="danger" onClick={remove}>
          Delete<span class="visually-hidden"> {name}</span>
        </button>
      </td>
    </tr>
  );
}
