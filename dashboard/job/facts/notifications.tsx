// The notifications of a job: the deliveries and the receiver's responses. Each can be sent again.
import { useState } from "preact/hooks";
import type { Delivery, EndpointResult } from "../../../client/index.ts";
import { copra } from "../../core/service.ts";
import { Button } from "../../parts/controls/button.tsx";
import { Field, useForm } from "../../parts/controls/form.tsx";
import { Empty } from "../../parts/empty.tsx";
import { EndpointStatus } from "../../parts/endpoint-status.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import { FormDialog } from "../../parts/overlays/form-dialog.tsx";
import { report } from "../../parts/overlays/toasts.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { useResource } from "../../parts/use-resource.ts";

const WORDS = {
  due: { status: "waiting", word: "due" },
  delivered: { status: "completed", word: "delivered" },
  abandoned: { status: "failed", word: "abandoned" },
} as const;

/** Reads the notifications again when `changes` changes: it names the events that may cause notifications. */
export function Notifications({ id, changes }: { readonly id: string; readonly changes: string }) {
  const log = useResource((signal) => copra.jobs.notifications(id, { signal }), [id, changes]);
  const [elsewhere, sendElsewhere] = useState<Delivery | null>(null);
  const replay = async (delivery: Delivery): Promise<void> => {
    if (await report(copra.notifications.replay(id, delivery.id), `${delivery.event} is sent again`)) log.reload();
  };
  const actions = (delivery: Delivery) => (
    <div class="row">
      <Button text="Replay" onClick={() => replay(delivery)} />
      <Button text="Replay to …" onClick={() => sendElsewhere(delivery)} />
    </div>
  );
  return (
    <Loaded of={log} what="the notifications">
      {(rows) =>
        rows.length === 0 ? (
          <Empty title="No notifications yet">The job sends them when it ends.</Empty>
        ) : (
          <>
            <Table
              label="Notifications"
              columns={[
                ...COLUMNS,
                [
                  <span key="actions" class="visually-hidden">
                    Actions
                  </span>,
                  actions,
                ],
              ]}
              rows={rows}
              keyOf={(delivery) => delivery.id}
            />
            {elsewhere && <ReplayDialog job={id} delivery={elsewhere} close={() => sendElsewhere(null)} />}
          </>
        )
      }
    </Loaded>
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  [
    "Event",
    ({ event, id }) => [
      event,
      <div key="id" class="detail mono">
        {id}
      </div>,
    ],
  ],
  ["Status", ({ status }) => <Status {...WORDS[status]} />],
  [
    "Receiver",
    ({ last_result, receiver }) => [
      last_result ?? "–",
      receiver && (
        <div key="receiver" class="detail">
          {receiver.to ?? receiver.type}
        </div>
      ),
    ],
  ],
  ["Attempts", ({ attempts }) => attempts, "number"],
  ["Created", ({ created_at }) => <Time at={created_at} />],
  ["Next attempt", ({ next_attempt_at }) => <Time at={next_attempt_at} />],
];

/** Sends a notification to another URL, and shows the response. */
function ReplayDialog({ job, delivery, close }: { job: string; delivery: Delivery; close: () => void }) {
  const [result, setResult] = useState<EndpointResult | null>(null);
  const form = useForm(async ({ text }) => {
    setResult(null);
    const { response } = await copra.notifications.replay(job, delivery.id, { url: text("url") });
    setResult(response ?? null);
  });
  return (
    <FormDialog title={`Replay ${delivery.event}`} close={close} action="Send" form={form}>
      <Field
        label="URL"
        help="It gets the same bytes with the same id, signed, once and now. The schedule does not change."
        name="url"
        type="url"
        required
        placeholder="https://staging.example.com/hook"
      />
      {result && <EndpointStatus result={result} />}
    </FormDialog>
  );
}
