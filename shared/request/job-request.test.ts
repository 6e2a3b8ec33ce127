import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isErrorCode } from "../errors.ts";
import { parseFormat } from "../format/parse-format.ts";
import { parseJobRequest } from "./job-request.ts";

const BODY = {
  input: { url: "https://media.example.com/film.mp4" },
  storage: {
    service: "s3",
    bucket: "films",
    region: "eu-west-1",
    credentials: { access_key_id: "a", secret_access_key: "b" },
  },
  outputs: { "mp4:720p": { path: "/720p.mp4" }, "jpg:300x": [{ path: "%02d.jpg", number: 3 }] },
  notification: { type: "http", url: "https://example.com/hook", params: { id: 7, live: true } },
};

describe("parseJobRequest", () => {
  it("fills in defaults and names outputs", () => {
    const parsed = parseJobRequest(BODY, "none");
    expect(parsed).toMatchObject({
      ok: true,
      value: {
        storage: { kind: "s3", endpoint: "https://s3.eu-west-1.amazonaws.com", addressing: "host", path: "" },
        secrets: { input: null, storage: { accessKeyId: "a", secretAccessKey: "b" }, notification: null },
        outputs: [
          { index: 0, key: "mp4:720p", type: "video", path: "720p.mp4", durationMs: null },
          { index: 1, key: "jpg:300x:1", type: "image", number: 3, square: false },
        ],
        notification: { params: { id: "7", live: "true" }, events: false, metadata: false },
        settings: { ultrafast: false },
      },
    });
    expect(JSON.stringify(parsed.ok && parsed.value.storage)).not.toContain("secret");
  });

  it("answers any JSON with a request or a refusal", () => {
    const mutated = fc
      .tuple(fc.constantFrom(...Object.keys(BODY)), fc.jsonValue())
      .map(([key, value]) => ({ ...BODY, [key]: value }));
    const inStorage = fc.dictionary(
      fc.constantFrom("service", "bucket", "region", "path", "credentials"),
      fc.jsonValue(),
    );
    const outputs = fc
      .dictionary(fc.oneof(fc.constant("mp4:240p"), fc.string()), fc.jsonValue())
      .map((value) => ({ ...BODY, outputs: value }));
    const bodies = fc.oneof(
      fc.jsonValue(),
      mutated,
      outputs,
      inStorage.map((more) => ({ ...BODY, storage: { ...BODY.storage, ...more } })),
    );
    fc.assert(
      fc.property(bodies, (body) => {
        const parsed = parseJobRequest(body, "none");
        return parsed.ok || (isErrorCode(parsed.refusal.code) && parsed.refusal.message.length > 0);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("parseFormat", () => {
  it("answers any text with a format or a sentence", () => {
    const token = fc.constantFrom(
      "mp4",
      "jpg",
      "720p",
      "x",
      "640x",
      "500k",
      "25fps",
      "quality=4",
      "maxrate=9k",
      "aac",
      "44100hz",
      "mono",
      "",
    );
    const likely = fc
      .array(fc.tuple(token, fc.constantFrom(":", "_", ",")), { maxLength: 8 })
      .map((parts) => parts.flat().join(""));
    fc.assert(
      fc.property(fc.oneof(fc.string(), likely), (text) => {
        const parsed = parseFormat(text);
        return parsed.ok || parsed.message.length > 0;
      }),
      { numRuns: 5000 },
    );
  });
});
