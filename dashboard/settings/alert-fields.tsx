// The form of an alert: its condition, its limit, its filter and its receiver.
import type { NewAlert } from "../../client/index.ts";
import type { Account } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
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
  "queue.age": { field: "seconds", label: "Waits longer than, minutes", unit: 60, usual: 15 },
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

const ADDRESSES: Readonly<Record<Receiver, { readonly label: string; readonly placeholder: string }>> = {
  slack: { label: "URL of the incoming webhook", placeholder: "https://hooks.slack.com/services/…" },
  webhook: { label: "URL of the endpoint", placeholder: "https://example.com/alerts" },
  email: { label: "E-mail addresses", placeholder: "ops@example.com" },
};

type Props = Choice & { readonly accounts: readonly Account[]; readonly choose: (choice: Choice) => void };

/** The fields of an alert: its condition, then its receiver. */
export function AlertFields({ when, receiver, accounts, choose }: Props) {
  const limit = LIMITS[when];
  const names = { "": "All accounts", ...Object.fromEntries(accounts.map(({ id, name }) => [id, name])) };
  return (
    <>
      <div class="row">
        <Field label="Name of the alert" name="name" required />
        <Field label="When">
          {(id) => (
            <Select id={id} options={CONDITIONS} value={when} choose={(next) => choose({ when: next, receiver })} />
          )}
        </Field>
        {limit && <Field key={when} label={limit.label} name="limit" defaultValue={String(limit.usual)} required />}
        {isOfJobs(when) ? (
          <Field label="In account">{(id) => <Select id={id} name="filter" options={names} />}</Field>
        ) : (
          <Field label="In pool" name="filter" placeholder="all pools" />
        )}
      </div>
      <div class="row">
        <Field label="Send to">
          {(id) => (
            <Select id={id} options={RECEIVERS} value={receiver} choose={(next) => choose({ when, receiver: next })} />
          )}
        </Field>
        <Field key={receiver} {...ADDRESSES[receiver]} name="address" required />
        {receiver === "webhook" && <Field label="Secret that signs it" name="secret" placeholder="whsec_…" required />}
        <Button type="submit" text="Save alert" class="primary" />
      </div>
    </>
  );
}
