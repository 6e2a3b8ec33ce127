// Bodies that are no JSON, and texts in place of numbers. local/guides/messages.txt has common mistakes in requests.
import { expect, it } from "vitest";
import { bodyError } from "./body-error.ts";
import { parseJobRequest } from "./job-request.ts";

const credentials = { access_key_id: "AKID", secret_access_key: "secret" };
const BODY = {
  input: { url: "https://example.com/video.mp4" },
  storage: { service: "s3", bucket: "videos", region: "us-east-1", credentials },
  outputs: { mp4: { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
};

const codeFor = (changes: object): string | null => {
  const parsed = parseJobRequest({ ...BODY, ...changes }, "none");
  return parsed.ok ? null : parsed.error.code;
};

const FORM = "The body is a form; this API accepts JSON, see /docs";
const V1 = "The body is an API v1 configuration; this API accepts JSON, see /docs";
it.each<[text: string | null, message: string]>([
  ["", "The body is empty; send JSON"],
  [" \n", "The body is empty; send JSON"],
  [null, "The body is not valid UTF-8; send JSON"],
  ['{"input":{"url":"https://x/y"},}', "The body is not valid JSON: unexpected `}` after a comma (line 1, column 32)"],
  [
    "{'input':1}",
    "The body is not valid JSON: unexpected `'` where a property name in double quotes is expected (line 1, column 2)",
  ],
  ["no JSON", "The body is not valid JSON: unexpected `no` where a value is expected (line 1, column 1)"],
  ["input[url]=https%3A%2F%2Fexample.com&outputs=1", FORM],
  ['--x1\r\nContent-Disposition: form-data; name="input"\r\n\r\na\r\n--x1--', FORM],
  ["var s3 = s3://k:s@bucket\nset source = https://example.com/a.mp4\n-> mp4 = $s3/a.mp4", V1],
  ["set webhook = https://example.com", V1],
])("the body %j", (text, message) => {
  expect(bodyError(text)).toBe(message);
});

it.each([
  ["line ends", "\n"],
  ["spaces", " "],
  ["words", "set a "],
  ["opening brackets", "["],
])("explains a body of 1 MiB of %s in linear time", (_, piece) => {
  const text = `${piece.repeat(2 ** 20 / piece.length)}x`;
  // A quadratic search would take hours.
  expect(bodyError(text)).toMatch(/^The body is not valid JSON: /);
});

it.each<[changes: object]>([
  [{ outputs: { mp4: { path: "a", offset: "2", duration: "1.5", transpose: "1", vflip: "true", hflip: "0" } } }],
  [{ outputs: { mp4: { path: "a", offset: 2, duration: 1.5, transpose: 1, vflip: true, hflip: false } } }],
])("accepts strings for numbers and booleans: %j", (changes) => {
  expect(parseJobRequest({ ...BODY, ...changes }, "none")).toMatchObject({
    value: { outputs: [{ offsetMs: 2000, durationMs: 1500, transpose: 1, vflip: true, hflip: false }] },
  });
});

it("accepts strings for numbers and booleans in nested objects", () => {
  const outputs = {
    jpg: { path: "%d.jpg", offsets: ["1", 2.5], sprite: { columns: "3" }, blur: "2", watermark: "false" },
    png: { path: "%d.png", number: "3", sprite: "1", vtt: "false" },
    httpstream: { hls: { path: "h" }, segment_duration: "4", thumbnails: 1 },
  };
  const more = {
    notification: { ...BODY.notification, events: "true", metadata: "0" },
    settings: { ultrafast: "1" },
    storage: { ...BODY.storage, secure: "false" },
  };
  expect(parseJobRequest({ ...BODY, ...more, outputs }, "none")).toMatchObject({
    value: {
      outputs: [
        { selection: { offsetsMs: [1000, 2500] }, sprite: { columns: 3 }, blur: 2, watermark: null },
        { selection: { number: 3 }, sprite: { columns: 4 }, vtt: null },
        { segmentDurationMs: 4000, thumbnails: true },
      ],
      notification: { events: true, metadata: false },
      settings: { ultrafast: true },
      storage: { secure: false },
    },
  });
});

it.each(["", " 2", "2s", "0x2", "1e3", "02", ".5", "--1", "٣", "NaN", "Infinity", "yes", "TRUE"])(
  "rejects the string %j",
  (text) => {
    expect(codeFor({ outputs: { mp4: { path: "a", offset: text } } })).toBe("output_param_not_valid");
    expect(codeFor({ outputs: { mp4: { path: "a", vflip: text } } })).toBe("output_param_not_valid");
  },
);
