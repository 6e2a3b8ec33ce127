// The form of an alert: its condition, its limit, its filter and its receiver.
import type { NewAlert } from "../../client/index.ts";
import { Field, type Fields } from "../parts/controls/form.tsx";
import { Select } from "../parts/controls/select.tsx";

type When = NewAlert["when"];
type Receiver = NewAlert["to"]["type"];

export const CONDITIONS = {
  "job.failed": "A job fails",
  failures: "Many jobs fail",
  "node.lost": "A node is lost",
  "queue.age": "A task waits too long",
  "disk.low": "A disk is nearly full",
} as const satisfies Record<When, string>;

type Limit = { field: string; label: string; unit: number; usual: number };
/** The limit of a condition in the request is a multiple of `unit`. */
const LIMITS: { readonly [Name in When]?: Limit } = {
  failures: { field: "percent", label: "Failed jobs in an hour, %", unit: 1, usual: 20 },
  "queue.age": { field: "seconds", label: "Minutes", unit: 60, usual: 15 },
  "disk.low": { field: "free_bytes", label: "Free space below, GB", unit: 1e9, usual: 20 },
};
const RECEIVERS = { slack: "Slack or similar", webhook: "Webhook", email: "E-mail" } as const satisfies Record<
  Receiver,
  string
>;
const isOfJobs = (when: When): boolean => when === "job.failed" || when === "failures";

type Choice = { readonly when: When; readonly receiver: Receiver };
export const FIRST: Choice = { when: "job.failed", receiver: "slack" };

/** The body of the alert in a form. */
export function alertOf({ text }: Fields, { when, receiver }: Choice): NewAlert {
  const limit = LIMITS[when];
  const filter = text("filter");
  const address = text("address");
  const to = receiver === "email" ? { type: receiver, to: address.split(/[\s,]+/) } : { type: receiver, url: address };
  const alert = {
    when,
    ...(limit ? { [limit.field]: Number(text("limit")) * limit.unit } : {}),
    ...(filter === "" ? {} : { [isOfJobs(when) ? "account" : "pool"]: filter }),
    to: receiver === "webhook" ? { ...to, secret: text("secret") } : to,
  };
  // The service checks the fields.
  return alert as NewAlert;
}

export function AlertFields({ when, receiver, choose }: Choice & { readonly choose: (choice: Choice) => void }) {
  const limit = LIMITS[when];
  return (
    <>
      <Field label="Name" name="name" required />
      <Field label="When">
        {(id) => (
          <Select id={id} options={CONDITIONS} value={when} choose={(next) => choose({ when: next, receiver })} />
        )}
      </Field>
      {limit && <Field key={when} label={limit.label} name="limit" defaultValue={String(limit.usual)} required />}
      <Field label={isOfJobs(when) ? "Only account (id)" : "Only pool"} name="filter" />
      <Field label="Send to">
        {(id) => (
          <Select id={id} options={RECEIVERS} value={receiver} choose={(next) => choose({ when, receiver: next })} />
        )}
      </Field>
      <Field key={receiver} label={receiver === "email" ? "Addresses" : "URL"} name="address" required />
      {receiver === "webhook" && <Field label="Secret (whsec_…)" name="secret" required />}
    </>
  );
}
