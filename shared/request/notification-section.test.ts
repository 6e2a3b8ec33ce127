import { describe, expect, it } from "vitest";
import * as z from "zod";
import { NotificationBody, NotificationSpec, parseNotification, parseReceivers } from "./notification-section.ts";

const SNS = {
  type: "sns",
  region: "eu-west-1",
  topic_arn: "arn:aws:sns:eu-west-1:123456789012:videos",
  credentials: { access_key_id: "AKID", secret_access_key: "secret" },
};
const HTTP = { type: "http", url: "https://example.com" };
const arn = (text: string) => ({ ...SNS, topic_arn: text });

describe("parseReceivers", () => {
  it("takes a receiver, or a list of up to five, each with its own events", () => {
    const of = (value: unknown) => {
      const parsed = parseReceivers(value, "none");
      if (!parsed.ok) return parsed.error;
      return [parsed.value.first, ...parsed.value.more].map(({ notification: { type, events } }) => [type, events]);
    };
    expect(of(SNS)).toEqual([["sns", false]]);
    const list = [SNS, { ...HTTP, events: ["job.failed", "output.failed"] }, { ...HTTP, events: "true" }];
    expect(of(list)).toEqual([
      ["sns", false],
      ["http", ["job.failed", "output.failed"]],
      ["http", true],
    ]);
    expect(of([HTTP, HTTP, HTTP, HTTP, HTTP])).toHaveLength(5);
  });

  const EVENTS = "must be true, false, or a list of events: input.transferred, input.failed, output.completed";
  it.each([
    [[], "`notification` must have 1 to 5 receivers"],
    [[HTTP, HTTP, HTTP, HTTP, HTTP, HTTP], "`notification` must have 1 to 5 receivers"],
    [[HTTP, { type: "pigeon" }], "`notification.1.type` must be http, sns or none"],
    [[HTTP, "x"], "`notification.1` must be an object with a `type`"],
    [[{ ...HTTP, url: "http://10.0.0.1/" }], "`notification.0.url` "],
    [[HTTP, { ...HTTP, url: "https://a:%@example.com/" }], "`notification.1.url`"],
    [{ ...HTTP, events: [] }, `\`notification.events\` ${EVENTS}`],
    [[{ ...HTTP, events: ["job.ended"] }], "`notification.0.events.0` must be one of input.transferred, input.failed"],
  ])("rejects %j", (value, message) => {
    const error = { code: "notification_not_valid", message: expect.stringContaining(message) };
    expect(parseReceivers(value, "none")).toEqual({ ok: false, error });
  });
});

describe("parseNotification", () => {
  it("separates the secret of a topic from the notification", () => {
    const parsed = parseNotification({ ...SNS, events: true }, "none");
    expect(parsed).toEqual({
      ok: true,
      value: {
        notification: {
          type: "sns",
          region: "eu-west-1",
          topicArn: "arn:aws:sns:eu-west-1:123456789012:videos",
          events: true,
          metadata: false,
        },
        secret: { accessKeyId: "AKID", secretAccessKey: "secret", params: {} },
      },
    });
    expect(parsed.ok && NotificationSpec.parse(parsed.value.notification)).toEqual(
      parsed.ok && parsed.value.notification,
    );
  });

  it("accepts the type none", () => {
    expect(parseNotification({ type: "none", events: true }, "none")).toEqual({
      ok: true,
      value: { notification: { type: "none", events: true, metadata: false }, secret: { url: "" } },
    });
    expect(parseNotification({ ...HTTP, type: "none" }, "none")).toMatchObject({ ok: false });
  });

  it("stores the params of a topic with the secrets", () => {
    const params = { order: 7, "customer.id": "c-1", live: true };
    expect(parseNotification({ ...SNS, params }, "none")).toMatchObject({
      value: { secret: { params: { order: "7", "customer.id": "c-1", live: "true" } } },
    });
  });

  it.each<[url: string, params: object, shown: string, whole: string]>([
    ["https://a.example/h", {}, "https://a.example/h", "https://a.example/h"],
    ["https://a.example/h", { id: 7, "a b": "c&d" }, "https://a.example/h", "https://a.example/h?id=7&a%20b=c%26d"],
    ["https://u:p@a.example/h?x=1#y", { x: "2" }, "https://a.example/h", "https://u:p@a.example/h?x=1&x=2"],
  ])("adds params to %s and separates the secrets", (url, params, shown, whole) => {
    const parsed = parseNotification({ type: "http", url, params }, "none");
    expect(parsed).toMatchObject({ ok: true, value: { notification: { url: shown }, secret: { url: whole } } });
  });

  it.each([
    ["arn:aws:sns:eu-west-1:123456789012:videos.fifo", "eu-west-1"],
    ["arn:aws-cn:sns:cn-north-1:123456789012:videos", "cn-north-1"],
    ["arn:aws-us-gov:sns:us-gov-west-1:123456789012:a_b-C9", "us-gov-west-1"],
    [`arn:aws:sns:eu-west-1:123456789012:${"x".repeat(256)}`, "eu-west-1"],
  ])("accepts the topic %s", (topic, region) => {
    expect(parseNotification({ ...arn(topic), region }, "none").ok).toBe(true);
  });

  it("rejects too long a param", () => {
    const parsed = parseNotification({ ...HTTP, params: { a: "x".repeat(1001) } }, "none");
    const message = "`notification.params.a` must have at most 1000 characters";
    expect(parsed).toEqual({ ok: false, error: { code: "notification_not_valid", message } });
  });

  it("describes the section by a JSON Schema", () => {
    const { oneOf } = z.toJSONSchema(NotificationBody, { io: "input", unrepresentable: "any" });
    expect(oneOf?.map(({ required }) => required)).toEqual([
      ["type", "url"],
      ["type", "region", "topic_arn", "credentials"],
      ["type"],
    ]);
  });
});
