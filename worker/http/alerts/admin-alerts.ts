// /v2/admin/alerts: rules that send messages to the operator.

import type { Context } from "hono";
import { AlertBody, type AlertList, type AlertView } from "#shared/api/alerts.ts";
import type { EndpointResult } from "#shared/api/notification-requests.ts";
import { AppError } from "#shared/errors.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { TEMPLATE_NAME } from "#shared/template/template-body.ts";
import type { Env } from "../../bindings.ts";
import { type AlertRow, deleteAlert, findAlert, listAlerts, putAlert } from "../../db/alerts.ts";
import { endpointResult } from "../../notify/outbox.ts";
import type { AdminEnv } from "../auth/auth.ts";
import { readBody } from "../body/read-body.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { requireReceiver } from "../webhooks/send-webhook.ts";
import { ALERT_OPERATIONS } from "./alerts.operations.ts";
import { AlertState } from "./evaluate-rule.ts";
import { NO_MAIL, newMessage, openAlert, sealAlert, sendAlert } from "./send-alert.ts";

type Named = Context<AdminEnv, "/alerts/:name">;

export const adminAlerts = mount(ALERT_OPERATIONS, {
  listAlerts: async (context) => {
    const rows = await listAlerts(context.env.DB);
    const alerts = await Promise.all(rows.map((row) => viewAlert(context.env, row)));
    return jsonResponse(context, { alerts } satisfies AlertList);
  },
  getAlert: async (context) => jsonResponse(context, await viewAlert(context.env, await knownAlert(context))),
  putAlert: put,
  deleteAlert: async (context) => {
    const row = await knownAlert(context);
    await deleteAlert(context.env.DB, row.name);
    return jsonResponse(context, await viewAlert(context.env, row));
  },
  testAlert: async (context) => {
    const row = await knownAlert(context);
    const alert = await openAlert(row, context.env);
    const now = Date.now();
    const result = await sendAlert(context.env, alert.to, newMessage(context.env, row.name, alert, null, now));
    return jsonResponse(context, endpointResult(result, now) satisfies EndpointResult);
  },
});

/** A replaced alert forgets its state: if its condition holds, it fires again. */
async function put(context: Named): Promise<Response> {
  const { env } = context;
  const name = context.req.param("name");
  if (!TEMPLATE_NAME.test(name)) {
    const rule = "must have 1 to 64 letters, digits, `_`, `.` and `-`, and start with a letter or digit";
    throw new AppError("request_not_valid", `The name of an alert ${rule}`);
  }
  const alert = await readBody(context.req, AlertBody, "request_not_valid");
  if (alert.to.type !== "email") requireReceiver(env, alert.to.url, "to.url");
  else if (!env.MAIL) throw new AppError("request_not_valid", `\`to.type\` must not be email: ${NO_MAIL}`);
  const state = JSON.stringify(AlertState.parse({ since: Date.now() }));
  const row = { name, sealed: await sealAlert(name, alert, env), state };
  await putAlert(env.DB, row);
  return jsonResponse(context, await viewAlert(env, row));
}

/** The alert of the path. Throws AppError(alert_not_found). */
async function knownAlert(context: Named): Promise<AlertRow> {
  const row = await findAlert(context.env.DB, context.req.param("name"));
  if (!row) throw new AppError("alert_not_found", "There is no alert with this name");
  return row;
}

/** The alert without the path of its URL and without its secret. */
async function viewAlert(env: Env, row: AlertRow): Promise<AlertView> {
  const { to, ...rule } = await openAlert(row, env);
  const { active, sentAt, error } = AlertState.parse(JSON.parse(row.state));
  return {
    name: row.name,
    ...rule,
    to: { type: to.type, receiver: to.type === "email" ? to.to.join(", ") : new URL(to.url).host },
    firing: Object.values(active),
    last_sent_at: sentAt === null ? null : contractDate(sentAt),
    last_error: error,
  };
}
