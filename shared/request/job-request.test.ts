import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isErrorCode } from "../errors.ts";
import { arbitraryBody } from "./arbitrary-body.ts";
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
        secrets: { input: BODY.input, storage: { accessKeyId: "a", secretAccessKey: "b" }, notification: null },
        outputs: [
          { index: 0, key: "mp4:720p", type: "video", path: "720p.mp4", durationMs: null },
          { index: 1, key: "jpg:300x:1", type: "image", selection: { by: "number", number: 3 } },
        ],
        notification: { params: { id: "7", live: "true" }, events: false, metadata: false },
        settings: { ultrafast: false },
      },
    });
    expect(JSON.stringify(parsed.ok && parsed.value.storage)).not.toContain("secret");
  });

  it("answers any JSON with a request or a refusal", () => {
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const parsed = parseJobRequest(body, "none");
        return parsed.ok || (isErrorCode(parsed.refusal.code) && parsed.refusal.message.length > 0);
      }),
      { numRuns: 10_000 },
    );
  });
});
