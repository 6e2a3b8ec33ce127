// Sends an example of an event to an endpoint.
import { useState } from "preact/hooks";
import type { EndpointResult, NotificationTest } from "../../client/index.ts";
import { copra } from "../core/service.ts";
import { Card } from "../parts/card.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Field, useForm } from "../parts/controls/form.tsx";
import { Select } from "../parts/controls/select.tsx";
import { EndpointStatus } from "../parts/endpoint-status.tsx";
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
  const { onSubmit, isBusy, error } = useForm(async ({ text }) => {
    setResult(undefined);
    setResult(await copra.notifications.test(text("url"), { event: text("event") as Event }));
  });
  return (
    <Card title="Test a webhook">
      <form class="body stack" onSubmit={onSubmit}>
        <Field label="URL of the endpoint" name="url" type="url" required placeholder="https://example.com/hook" />
        <div class="row">
          <Field label="Event">
            {(id) => <Select id={id} name="event" options={Object.fromEntries(EVENTS.map((name) => [name, name]))} />}
          </Field>
          <Button type="submit" text={isBusy ? "Sending …" : "Send an example"} class="primary" disabled={isBusy} />
        </div>
        <Problem error={error} />
        {result && <EndpointStatus result={result} />}
        <p class="muted">It is signed with the secret of the account, and belongs to no job.</p>
      </form>
    </Card>
  );
}
