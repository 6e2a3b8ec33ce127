// copra webhooks ls, replay, test and rotate-secret.
import type { Delivery } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { textOption } from "../context.ts";
import { CommandError, EXIT } from "../exit.ts";
import { type Colors, statusColor } from "../terminal/colors.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";

export const listNotifications: Run = async (context, [job = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const notifications = await copra.jobs.notifications(job, { signal });
  output.data({ job_id: job, notifications }, () => deliveryTable(notifications, output.colors));
};

const deliveryTable = (notifications: readonly Delivery[], colors: Colors): string =>
  table([
    ["NOTIFICATION", "EVENT", "STATUS", "ATTEMPTS", "LAST RESULT", "RECEIVER"].map(colors.bold),
    ...notifications.map(({ id, event, status, attempts, last_result, receiver }) => [
      id,
      event,
      statusColor(status, colors),
      String(attempts),
      printable(last_result ?? ""),
      receiver ? `${receiver.number} ${printable(receiver.to ?? receiver.type)}` : "",
    ]),
  ]);

export const replay: Run = async (context, [job = "", id], options) => {
  const { output, signal } = context;
  const url = textOption(options, "to");
  const { copra } = await clientOf(context);
  const ids = id === undefined ? idsOf(await copra.jobs.notifications(job, { signal }), job) : [id];
  const notifications: Delivery[] = [];
  const to = { signal, ...(url === undefined ? {} : { url }) };
  for (const notification of ids) notifications.push(await copra.notifications.replay(job, notification, to));
  output.data({ job_id: job, notifications }, () => deliveryTable(notifications, output.colors));
};

function idsOf(notifications: readonly Delivery[], job: string): readonly string[] {
  if (notifications.length === 0) throw new CommandError(EXIT.notFound, `The job ${job} has no notifications yet`);
  return notifications.map(({ id }) => id);
}

export const testEndpoint: Run = async (context, [url = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const result = await copra.notifications.test(url, { signal });
  const { delivered, status, error, seconds } = result;
  output.data(
    result,
    () => `${status === null ? printable(error ?? "no response") : `HTTP ${status}`}, ${seconds.toFixed(2)} s`,
  );
  return delivered ? EXIT.done : EXIT.failed;
};

export const rotateSecret: Run = async (context) => {
  const { output, signal, copra } = await clientOf(context);
  const created = await copra.notifications.rotateSecret({ signal });
  output.data(created, () => created.webhook_secret);
  output.words(`The previous secret also signs until ${created.previous_until}`);
};
