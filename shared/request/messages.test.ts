// Common mistakes in requests and the exact error messages, without the lists of allowed values: messages.txt.
import { readFileSync } from "node:fs";
import { join } from "node:path";
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

/** Returns the error for a body with these changes, without the list of allowed values. */
function errorFor(changes: object): { code: string; message: string } | null {
  const parsed = parseJobRequest({ ...BODY, ...changes }, "none");
  if (parsed.ok) return null;
  const { code, message } = parsed.error;
  return { code, message: message.replace(/(llowed(?: as `\w+`)?: ).*$/s, "$1…") };
}

const FILE = join(import.meta.dirname, "messages.txt");

/** The changes of a request that a line of the file states, such as `without storage {"input":"a"}`. */
function changesOf(line: string): object {
  const [, missing, changes = ""] = /^(?:without (\w+) )?(\{.*\})$/.exec(line) ?? [];
  return { ...(missing === undefined ? {} : { [missing]: undefined }), ...JSON.parse(changes) };
}

// `npm test -- -u shared/request/messages` writes the messages again; review them as a diff.
it("explains each mistake of messages.txt in these words", async () => {
  const requests = readFileSync(FILE, "utf8")
    .split("\n\n")
    .map((entry) => entry.split("\n")[0] ?? "");
  const explained = requests.map((line) => {
    const error = errorFor(changesOf(line));
    return `${line}\n${error?.code}: ${error?.message}`;
  });
  await expect(`${explained.join("\n\n")}\n`).toMatchFileSnapshot(FILE);
});

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
    expect(errorFor({ outputs: { mp4: { path: "a", offset: text } } })?.code).toBe("output_param_not_valid");
    expect(errorFor({ outputs: { mp4: { path: "a", vflip: text } } })?.code).toBe("output_param_not_valid");
  },
);
