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
const manyParams = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`p${index}`, index]));
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

  it.each<[string, unknown, RegExp]>([
    ["a string", "http", /^`notification` must be an object/],
    ["no type", {}, /^`notification\.type` is missing; it must be http, sns or none$/],
    ["an unknown type", { ...SNS, type: "fax" }, /^`notification\.type` must be http, sns or none$/],
    ["no region", { ...SNS, region: undefined }, /^`notification\.region` is missing: the region of the topic/],
    [
      "a region that is a host",
      { ...SNS, region: "evil.example.com/" },
      /^`notification\.region` must be a region name/,
    ],
    [
      "a region that is not the topic's",
      { ...SNS, region: "us-east-1" },
      /^`notification\.region` must be .*`topic_arn`/,
    ],
    ["no topic", { ...SNS, topic_arn: undefined }, /^`notification\.topic_arn` is missing, such as arn:/],
    [
      "a queue",
      arn("arn:aws:sqs:eu-west-1:123456789012:videos"),
      /^`notification\.topic_arn` must be the ARN of a topic/,
    ],
    ["a subscription", arn(`${SNS.topic_arn}:6b0e71bd`), /^`notification\.topic_arn`/],
    ["a topic without account", arn("arn:aws:sns:eu-west-1::videos"), /^`notification\.topic_arn`/],
    ["too long a name", arn(`arn:aws:sns:eu-west-1:123456789012:${"x".repeat(257)}`), /^`notification\.topic_arn`/],
    [
      "no credentials",
      { ...SNS, credentials: undefined },
      /^`notification\.credentials` is missing; .*`secret_access_key`/,
    ],
    [
      "half of them",
      { ...SNS, credentials: { access_key_id: "a" } },
      /^`notification\.credentials\.secret_access_key`/,
    ],
    ["unknown credentials", { ...SNS, credentials: { token: "a" } }, /^`notification\.credentials/],
    ["fields of http", { ...SNS, url: "https://example.com" }, /^`notification` has no field `url`; allowed: type, /],
    ["fields of sns", { ...HTTP, region: "x" }, /^`notification` has no field `region`; allowed: type, url, params, /],
    [
      "params that are a list",
      { ...HTTP, params: [] },
      /^`notification\.params` must be an object of names and values$/,
    ],
    ["a param that is nothing", { ...HTTP, params: { a: null } }, /\.params\.a` must be a string, number or boolean$/],
    [
      "too long a param",
      { ...HTTP, params: { a: "x".repeat(1001) } },
      /\.params\.a` must have at most 1000 characters$/,
    ],
    [
      "too long a name",
      { ...HTTP, params: { ["x".repeat(201)]: 1 } },
      /\.params\.x{60}` must have a name of at most 200 characters$/,
    ],
    ["too many params", { ...HTTP, params: manyParams }, /^`notification\.params` must have at most 50 properties$/],
    [
      "too many params of sns",
      { ...SNS, params: manyParams },
      /^`notification\.params` must have at most 8 properties$/,
    ],
    ["a param of sns with a reserved name", { ...SNS, params: { event: "x" } }, /other than `event` and `job_id`/],
    ["a param of sns without a value", { ...SNS, params: { a: "" } }, /^`notification\.params` .*no empty values$/],
    [
      "a param of sns with an invalid name",
      { ...SNS, params: { "a b": 1 } },
      /^`notification\.params` must have names/,
    ],
    ["a private address", { type: "http", url: "http://10.0.0.1/" }, /^`notification\.url`/],
  ])("rejects %s", (_, value, message) => {
    const error = { code: "notification_not_valid", message: expect.stringMatching(message) };
    expect(parseNotification(value, "none")).toEqual({ ok: false, error });
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
