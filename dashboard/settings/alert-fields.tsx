// The form of an alert: its condition, its limit, its filter and its receiver.
import type { JSX } from "preact";
import type { NewAlert } from "../../client/index.ts";

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

/** The name and the body of the alert in a form. */
export function alertOf(form: HTMLFormElement, { when, receiver }: Choice): [name: string, alert: NewAlert] {
  const data = new FormData(form);
  const text = (name: string): string => String(data.get(name) ?? "").trim();
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
  return [text("name"), alert as NewAlert];
}

export function AlertFields({ when, receiver, choose }: Choice & { readonly choose: (choice: Choice) => void }) {
  const limit = LIMITS[when];
  const select = (name: keyof Choice, label: string, options: Readonly<Record<string, string>>, value: string) => (
    <Field name={name} label={label}>
      <select
        id={`alert-${name}`}
        value={value}
        onChange={({ currentTarget }) => choose({ when, receiver, [name]: currentTarget.value })}
      >
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
  return (
    <>
      <Field name="name" label="Name" />
      {select("when", "When", CONDITIONS, when)}
      {limit && <Field key={when} name="limit" label={limit.label} value={limit.usual} />}
      <Field name="filter" label={isOfJobs(when) ? "Only account (id)" : "Only pool"} isOptional />
      {select("receiver", "Send to", RECEIVERS, receiver)}
      <Field key={receiver} name="address" label={receiver === "email" ? "Addresses" : "URL"} />
      {receiver === "webhook" && <Field name="secret" label="Secret (whsec_…)" />}
    </>
  );
}

type FieldOptions = { name: string; label: string; value?: number; isOptional?: boolean; children?: JSX.Element };

function Field({ name, label, value, isOptional = false, children }: FieldOptions) {
  const id = `alert-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children ?? <input id={id} name={name} defaultValue={value} required={!isOptional} />}
    </div>
  );
}
