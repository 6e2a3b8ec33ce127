// Tests of webhooks: valid webhooks are verified, others are rejected.
import { verifyWebhook, WebhookError } from "../index.ts";
import { type Case, equal } from "./scenario.ts";

// The example of the specification (github.com/standard-webhooks/standard-webhooks), with a body of ours.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW = 1614265330_000;
const HEADERS = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const BODY = '{"test": 2432232314}';
const OTHER = `whsec_${btoa("another secret of 24 byte")}`;

export const WEBHOOK_CASES = Object.entries<Case[1]>({
  "a webhook is verified from a Request, Headers, headers of Node, text and bytes, with one of several secrets":
    async () => {
      const expected = { test: 2432232314 };
      const options = { now: NOW };
      const init = { method: "POST", headers: HEADERS, body: BODY };
      equal(await verifyWebhook(new Request("https://a.test/", init), SECRET, options), expected);
      equal(await verifyWebhook({ headers: new Headers(HEADERS), body: BODY }, [OTHER, SECRET], options), expected);
      const bytes = new TextEncoder().encode(BODY);
      equal(await verifyWebhook({ headers: HEADERS, body: bytes }, SECRET, options), expected);
      const rotated = { ...HEADERS, "webhook-signature": `v1,AAAA v2,x ${HEADERS["webhook-signature"]}` };
      equal(await verifyWebhook({ headers: rotated, body: BODY }, SECRET, { now: NOW + 299_000 }), expected);
    },
  "a webhook with another body, time, id, secret or signature is refused": async () => {
    const rows: [Partial<Record<keyof typeof HEADERS, string>>, string, string, number][] = [
      [{}, `${BODY} `, SECRET, NOW],
      [{}, BODY, OTHER, NOW],
      [{}, BODY, "", NOW],
      [{}, BODY, SECRET, NOW + 301_000],
      [{}, BODY, SECRET, NOW - 301_000],
      [{ "webhook-id": "msg_1" }, BODY, SECRET, NOW],
      [{ "webhook-id": "" }, BODY, SECRET, NOW],
      [{ "webhook-timestamp": "1614265331" }, BODY, SECRET, NOW],
      [{ "webhook-timestamp": "now" }, BODY, SECRET, NOW],
      [{ "webhook-signature": "v1,%%%" }, BODY, SECRET, NOW],
      [{ "webhook-signature": "v1," }, BODY, SECRET, NOW],
      [{ "webhook-signature": HEADERS["webhook-signature"].replace("v1", "v1a") }, BODY, SECRET, NOW],
    ];
    for (const [changes, body, secret, now] of rows) {
      const verified = verifyWebhook({ headers: { ...HEADERS, ...changes }, body }, secret, { now });
      const error = await verified.catch((reason: unknown) => reason);
      if (!(error instanceof WebhookError))
        throw new Error(`Not refused: ${JSON.stringify([changes, body, secret, now])}`);
    }
  },
});
