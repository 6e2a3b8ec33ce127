import { env } from "cloudflare:workers";
import { expect, inject, it } from "vitest";
import { ALLOW_SETTINGS, HOSTILE_ADDRESSES, isRefused } from "#shared/testing/hostile-addresses.ts";
import { type Settings, settingsOf } from "../settings.ts";
import { PENDING } from "../testing/delivery.ts";
import { deliver } from "./deliver.ts";
import { newWebhookSecret } from "./signature.ts";

/** An address that answers like this. */
function answering(answer: object): string {
  const encoded = btoa(JSON.stringify(answer)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${inject("answers")}/${encoded}/hook`;
}
const SECRET = newWebhookSecret(new Uint8Array(32));

function deliverTo(url: string, changes: Partial<Settings> = {}) {
  const target = { type: "http", url, events: false, metadata: false } as const;
  const deps = {
    jobId: "job",
    receiver: { url },
    signWith: [SECRET],
    settings: { ...settingsOf(env), ...changes },
    now: Date.now(),
  };
  return deliver(PENDING, target, deps);
}

it.each<[string, string, unknown]>([
  ["is taken", answering({ status: 204 }), { status: 204 }],
  ["is limited", answering({ status: 429, headers: { "retry-after": "120" } }), { status: 429, retryAfterMs: 120_000 }],
  ["is refused", answering({ status: 500, body: "x".repeat(4000) }), { status: 500 }],
  [
    "takes the address's user along",
    answering({ status: 200, authorization: `Basic ${btoa("user:p@ss")}` }).replace("//", "//user:p%40ss@"),
    { status: 200 },
  ],
  [
    "finds no host",
    "https://hooks.invalid/hook",
    { error: expect.stringMatching(/^No response: (the host does not exist in DNS|internal error)/) },
  ],
  ["finds nobody", "http://127.0.0.1:9/hook", { error: expect.stringMatching(/^No response/) }],
])("a webhook %s", async (_, url, expected) => {
  expect(await deliverTo(url)).toEqual(expected);
});

it.each([301, 302, 303, 307, 308])("a webhook does not follow the redirect %d", async (status) => {
  const urls = ["http://10.0.0.1/", "http://169.254.169.254/", "//0xa9fea9fe/", "file:///etc/passwd"];
  for (const location of [answering({ status: 200 }), ...urls]) {
    expect(await deliverTo(answering({ status, headers: { location } }))).toEqual({ status });
  }
});

/** Jobs may be older than the operator's present setting, so the address is checked again. */
it.each(ALLOW_SETTINGS)("a webhook reaches no private address under %s", async (allowPrivate) => {
  const urls = HOSTILE_ADDRESSES.filter((row) => isRefused(row, allowPrivate)).map(([url]) => url);
  const results = await Promise.all(urls.map((url) => deliverTo(url, { allowPrivate })));
  expect(results).toEqual(
    urls.map(() => ({
      error: expect.stringMatching(/^The (host|scheme|URL) .*not |^`s3:\/\/` is not|^This is a path on a computer/),
    })),
  );
});

it.each([
  "http://user:hunter2@10.0.0.1/?token=hunter2",
  "http://user:hunter2@127.0.0.1:9/?token=hunter2",
  "http://user:hunter2%@127.0.0.1:9/?token=hunter2",
])("the result of a webhook to %s repeats no secret", async (url) => {
  const result = await deliverTo(url);
  expect(result).toHaveProperty("error");
  expect(JSON.stringify(result)).not.toContain("hunter2");
});
