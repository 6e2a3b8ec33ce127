import { env } from "cloudflare:workers";
import { expect, inject, it } from "vitest";
import { settingsOf } from "../env.ts";
import { deliver } from "./deliver.ts";
import { newWebhookSecret } from "./signature.ts";

/** An address that answers like this. */
function answering(answer: object): string {
  const encoded = btoa(JSON.stringify(answer)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${inject("answers")}/${encoded}/hook`;
}
const SECRET = newWebhookSecret(new Uint8Array(32));

it.each<[string, string, unknown]>([
  ["is taken", answering({ status: 204 }), { status: 204 }],
  ["is refused", answering({ status: 500, body: "x".repeat(10_000) }), { status: 500 }],
  [
    "is not led elsewhere",
    answering({ status: 302, headers: { location: answering({ status: 200 }) } }),
    { status: 302 },
  ],
  [
    "takes the address's user along",
    answering({ status: 200, authorization: `Basic ${btoa("user:p@ss")}` }).replace("//", "//user:p%40ss@"),
    { status: 200 },
  ],
  ["is not brought to a private address", "http://10.0.0.1/hook", { error: expect.stringMatching(/public/) }],
  ["finds nobody", "http://127.0.0.1:9/hook", { error: expect.stringMatching(/^No answer/) }],
])("a webhook %s", async (_, url, expected) => {
  const target = { type: "http", url, events: false, metadata: false } as const;
  const delivery = {
    id: "msg_1",
    event: "job.completed",
    body: "{}",
    createdAt: 0,
    attempts: 0,
    earlierAttempts: 0,
    nextAt: 0,
  } as const;
  const secrets = { webhook: SECRET, notification: { url } };
  const deps = { jobId: "job", secrets, settings: settingsOf(env), now: Date.now() };
  expect(await deliver({ ...delivery, state: "due", lastResult: null }, target, deps)).toEqual(expected);
});
