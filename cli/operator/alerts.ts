// copra alerts.
import * as z from "zod";
import type { NewAlert } from "../../client/index.ts";
import { adminOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { readJsonOption } from "../encode/job-request.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listAlerts: Run = async (context) => {
  const { output, signal } = context;
  const alerts = await (await adminOf(context)).alerts.list({ signal });
  output.data({ alerts }, () =>
    [
      table([
        ["ALERT", "WHEN", "TO", "LAST SENT", "LAST ERROR"].map(output.colors.bold),
        ...alerts.map(({ name, when, to, last_sent_at, last_error }) => [
          name,
          when,
          printable(`${to.type} ${to.receiver}`),
          last_sent_at ?? "never",
          printable(last_error ?? ""),
        ]),
      ]),
      ...alerts.flatMap(({ name, firing }) => firing.map((sentence) => printable(`${name}: ${sentence}`))),
    ].join("\n"),
  );
};

export const setAlert: Run = async (context, [name = "", file = "-"]) => {
  const { output, signal } = context;
  const fields = readJsonOption(file, z.record(z.string(), z.unknown()), "an alert: an object with `when` and `to`");
  const alert = await (await adminOf(context)).alerts.put(name, fields as NewAlert, { signal });
  output.data(alert, () => `${alert.name}: ${alert.when}`);
};

export const testAlert: Run = async (context, [name = ""]) => {
  const { output, signal } = context;
  const result = await (await adminOf(context)).alerts.test(name, { signal });
  output.data(result, () => (result.delivered ? "delivered" : printable(result.error ?? `HTTP ${result.status}`)));
  return result.delivered ? EXIT.done : EXIT.failed;
};

export const deleteAlerts: Run = async (context, names) => {
  const { output, signal } = context;
  const { alerts } = await adminOf(context);
  for (const name of names) await alerts.delete(name, { signal });
  output.data({ deleted: names }, () => names.join("\n"));
};
