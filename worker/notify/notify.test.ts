import { describe, expect, it } from "vitest";
import { retryDelays } from "#shared/job/notification.ts";
import { PENDING } from "../testing/delivery.ts";
import type { Delivery } from "./delivery.ts";
import { type DeliveryResult, viewDelivery } from "./delivery.ts";
import { afterAttempt, postponed, replay } from "./outbox.ts";
import { newWebhookSecret, signatureHeaders } from "./signature.ts";

describe("signatures", () => {
  it("match Standard Webhooks (the specification's own example)", async () => {
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = '{"test": 2432232314}';
    const headers = await signatureHeaders([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330_000, body);
    expect(headers).toEqual({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("sign with each secret, the newest first", async () => {
    const [newest, oldest] = [newWebhookSecret(new Uint8Array(32)), newWebhookSecret(new Uint8Array(32).fill(1))];
    const of = async (...secrets: string[]) => (await signatureHeaders(secrets, "m", 0, "{}"))["webhook-signature"];
    expect(await of(newest, oldest)).toBe(`${await of(newest)} ${await of(oldest)}`);
  });

  it("have secrets of 32 bytes", () => {
    expect(newWebhookSecret(new Uint8Array(32))).toBe(`whsec_${"A".repeat(43)}=`);
  });
});

describe("deliveries", () => {
  const rows: [string, DeliveryResult, Partial<Delivery>][] = [
    ["200", { status: 200 }, { state: "delivered", lastResult: "HTTP 200" }],
    ["204", { status: 204 }, { state: "delivered" }],
    ["302", { status: 302 }, { state: "due", nextAt: 1000 + 5000 }],
    ["404", { status: 404 }, { state: "due", nextAt: 1000 + 5000 }],
    ["410", { status: 410 }, { state: "abandoned" }],
    [
      "an error with a code",
      { status: 403, code: "AuthorizationError" },
      { state: "due", nextAt: 1000 + 5000, lastResult: "HTTP 403 AuthorizationError" },
    ],
    ["500", { status: 500 }, { state: "due", nextAt: 1000 + 5000, lastResult: "HTTP 500" }],
    ["503 that asks for less than the schedule", { status: 503, retryAfterMs: 1 }, { nextAt: 1000 + 5000 }],
    ["503 that asks for more", { status: 503, retryAfterMs: 60_000 }, { nextAt: 1000 + 60_000 }],
    ["503 that asks for a day", { status: 503, retryAfterMs: 86_400_000 }, { nextAt: 1000 + 3_600_000 }],
    [
      "no answer",
      { error: "No response: refused" },
      { state: "due", nextAt: 1000 + 5000, lastResult: "No response: refused" },
    ],
  ];
  it.each(rows)("have the right state after %s", (_, result, expected) => {
    const attempted = { ...PENDING, attempts: 1, lastResult: expect.any(String) };
    expect(afterAttempt(PENDING, result, 1000)).toEqual({ ...attempted, ...expected });
  });

  it("are retried according to the schedule, then abandoned", () => {
    let tried = PENDING;
    const delays: number[] = [];
    for (let now = 0; tried.state === "due"; now = tried.nextAt) {
      tried = afterAttempt(tried, { status: 500 }, now);
      if (tried.state === "due") delays.push(tried.nextAt - now);
    }
    expect(delays).toEqual(retryDelays("job.completed"));
    expect(tried).toMatchObject({ state: "abandoned", attempts: 10 });
  });

  it("restart the schedule when they are replayed, and continue to count attempts", () => {
    const abandoned = { ...PENDING, state: "abandoned" as const, attempts: 10, lastResult: "HTTP 500" };
    const sent = replay([abandoned], PENDING.id, 500);
    const replayed = sent && "replayed" in sent ? sent.replayed : PENDING;
    expect(replay([replayed], PENDING.id, 30_500)).toEqual({ waitMs: 30_000 });
    expect(replay([replayed], PENDING.id, 60_500)).toHaveProperty("replayed");
    // A postponement is not an attempt.
    expect(postponed(replayed, 9000)).toEqual({ ...replayed, nextAt: 9000 });
    expect(postponed({ ...replayed, nextAt: 9000 }, 8000).nextAt).toBe(9000);
    expect(viewDelivery(replayed, {} as never)).toMatchObject({ status: "due", attempts: 10, last_result: "HTTP 500" });
    const again = afterAttempt(replayed, { status: 500 }, 1000);
    expect(again).toMatchObject({ state: "due", attempts: 11, nextAt: 1000 + 5000 });
  });
});
