// Evaluates alerts and sends their messages, as a part of each sweep.
import type { AlertBody } from "#shared/api/alerts.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { type AlertRow, changeAlert, listAlerts } from "../../db/alerts.ts";
import { log } from "../../log.ts";
import { afterSending, describe, isDelivered } from "../../notify/outbox.ts";
import { AlertState, evaluateRule } from "./evaluate-rule.ts";
import { type FleetReports, fleetReports } from "./fleet-reports.ts";
import { newMessage, openAlert, sendAlert } from "./send-alert.ts";

const MINUTE_MS = 60_000;
const MAX_DELAY_MS = 30 * MINUTE_MS;

/** Evaluates all alerts at the same time, so that no receiver delays the alerts of others. */
export async function sweepAlerts(env: Env, now: number): Promise<void> {
  const fleet = fleetReports(env);
  const sweepAlert = async (row: AlertRow): Promise<void> => {
    try {
      const alert = await openAlert(row, env);
      const current = await evaluated({ env, fleet }, row, alert, now);
      if (current) await sendDue(env, current, alert, now);
    } catch (error) {
      log.warn("alert not evaluated", { alert: row.name, error: messageOf(error) });
    }
  };
  await Promise.all((await listAlerts(env.DB)).map(sweepAlert));
}

/**
 * Evaluates an alert whose message was delivered and whose quiet time is over. The new message is stored before it is
 * sent, so that a restart neither loses nor repeats a change. Returns null if another sweep or the operator has changed
 * the alert meanwhile.
 */
async function evaluated(
  sources: { readonly env: Env; readonly fleet: FleetReports },
  row: AlertRow,
  alert: AlertBody,
  now: number,
): Promise<AlertRow | null> {
  const { env } = sources;
  const state = AlertState.parse(JSON.parse(row.state));
  if (state.message || state.messageAt + alert.quiet_minutes * MINUTE_MS > now) return row;
  const [after, changes] = await evaluateRule(sources, alert, state, now);
  if (changes.firing.length + changes.resolved.length === 0) return change(env, row, { ...state, ...after });
  const message = newMessage(env, row.name, alert, changes, now);
  return change(env, row, { ...state, ...after, message, messageAt: now });
}

async function sendDue(env: Env, row: AlertRow, { to }: AlertBody, now: number): Promise<void> {
  const state = AlertState.parse(JSON.parse(row.state));
  if (!state.message || state.message.nextAt > now) return;
  const result = await sendAlert(env, to, state.message);
  const message = afterSending(
    state.message,
    result,
    now,
    Math.min(MINUTE_MS * 2 ** state.message.attempts, MAX_DELAY_MS),
  );
  if (isDelivered(result)) return void (await change(env, row, { ...state, message, sentAt: now, error: null }));
  const dropped = message ? "" : ": the receiver wants no messages, and this message was dropped";
  const error = describe(result) + dropped;
  log.warn("alert not sent", { alert: row.name, error });
  await change(env, row, { ...state, message, error });
}

async function change(env: Env, row: AlertRow, state: AlertState): Promise<AlertRow | null> {
  const text = JSON.stringify(state);
  if (text === row.state) return row;
  return (await changeAlert(env.DB, row, { state: text })) ? { ...row, state: text } : null;
}
