// Stores alerts sealed, and sends their messages.
import * as z from "zod";
import { AlertBody, type AlertTarget } from "#shared/api/alerts.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { seal, unseal } from "../../crypto/sealed-secret.ts";
import type { AlertRow } from "../../db/alerts.ts";
import type { DeliveryResult } from "../../notify/delivery.ts";
import type { Message } from "../../notify/outbox.ts";
import { postWebhook } from "../../notify/webhook.ts";
import { settingsOf } from "../../settings.ts";
import type { Changes } from "./evaluate-rule.ts";

export const alertContext = (name: string): string => `alert:${name}`;

export const sealAlert = (name: string, alert: AlertBody, env: Env): Promise<string> =>
  seal(JSON.stringify(alert), alertContext(name), settingsOf(env).sealingKeys);

export const openAlert = async ({ name, sealed }: AlertRow, env: Env): Promise<AlertBody> =>
  AlertBody.parse(JSON.parse(await unseal(sealed, alertContext(name), settingsOf(env).sealingKeys)));

/** A new message about changes; null: a test. */
export function newMessage(
  env: Env,
  alert: string,
  { when }: AlertBody,
  changes: Changes | null,
  now: number,
): Message {
  const { firing, resolved, count = firing.length } = changes ?? { firing: [], resolved: [] };
  const event = changes === null ? "test" : firing.length > 0 ? "firing" : "resolved";
  const title = when === "job.failed" && count > 0 ? `${count} failed job${count === 1 ? "" : "s"}` : event;
  const { publicUrl } = settingsOf(env);
  const place = publicUrl === null ? "" : ` of ${new URL(publicUrl).host}`;
  const page = when === "job.failed" || when === "failures" ? "?status=job.failed" : "/nodes";
  const lines = [
    `Copra alert ${alert}${place}: ${title}`,
    ...[...firing, ...resolved.map((sentence) => `Resolved: ${sentence}`)],
    ...(publicUrl === null ? [] : [`${publicUrl}/dashboard${page}`]),
  ];
  const fields = { event: `alert.${event}`, alert, when, text: lines.join("\n"), firing, resolved, count };
  const body = JSON.stringify({ ...fields, created_at: contractDate(now) });
  return { id: `alert_${crypto.randomUUID()}`, body, attempts: 0, nextAt: now };
}

/** Sends a message once. Never rejects because of the receiver. */
export async function sendAlert(env: Env, to: AlertTarget, { id, body }: Message): Promise<DeliveryResult> {
  const { text } = z.object({ text: z.string() }).parse(JSON.parse(body));
  if (to.type === "email") return sendMail(env, { id, to: to.to, text });
  const sent = { id, body: to.type === "slack" ? JSON.stringify({ text }) : body };
  const signWith = to.type === "slack" ? [] : [to.secret];
  return postWebhook(sent, { receiver: { url: to.url }, signWith, settings: settingsOf(env), now: Date.now() });
}

export const NO_MAIL = "SMTP_URL is not set: `copra serve` sends e-mail by the SMTP server that it names";

async function sendMail({ MAIL }: Env, mail: object): Promise<DeliveryResult> {
  if (!MAIL) return { error: NO_MAIL };
  try {
    const response = await MAIL.fetch("http://mail/", { method: "POST", body: JSON.stringify(mail) });
    return response.ok ? { status: response.status } : { error: await response.text() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
