// Sends an example of an event to an endpoint.
import { useState } from "preact/hooks";
import type { EndpointResult, NotificationTest } from "../../client/index.ts";
import { duration } from "../core/format.ts";
import { copra } from "../core/service.ts";
import { Problem } from "../parts/problem.tsx";

type Event = NonNullable<NotificationTest["event"]>;
const EVENTS: readonly Event[] = [
  "job.completed",
  "job.failed",
  "job.aborted",
  "output.completed",
  "output.failed",
  "input.transferred",
  "input.failed",
];

export function WebhookTestCard() {
  const [result, setResult] = useState<EndpointResult>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setError(undefined);
    setResult(undefined);
    const sent = copra.notifications.test(String(data.get("url")), { event: data.get("event") as Event });
    await sent.then(setResult, setError);
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="settings-test">
      <header>
        <h2 id="settings-test">Test a webhook</h2>
      </header>
      <form class="body stack" onSubmit={send}>
        <div class="field">
          <label for="test-url">URL of the endpoint</label>
          <input id="test-url" name="url" type="url" required placeholder="https://example.com/hook" />
        </div>
        <div class="row">
          <div class="field">
            <label for="test-event">Event</label>
            <select id="test-event" name="event">
              {EVENTS.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </div>
          <button type="submit" class="primary bottom" disabled={isBusy}>
            {isBusy ? "Sending …" : "Send an example"}
          </button>
        </div>
        {error !== undefined && <Problem error={error} />}
        <div role="status">{result && <Result result={result} />}</div>
        <p class="muted">It is signed with the secret of the account, and belongs to no job.</p>
      </form>
    </section>
  );
}

function Result({ result: { delivered, status, error, seconds } }: { readonly result: EndpointResult }) {
  return (
    <p>
      <span class={`status ${delivered ? "ok" : "bad"}`}>
        <span aria-hidden="true">{delivered ? "✓" : "✕"}</span> {delivered ? "delivered" : "not delivered"}
      </span>{" "}
      {status === null ? (error ?? "no response") : `HTTP ${status}`} after {duration(seconds)}
    </p>
  );
}
