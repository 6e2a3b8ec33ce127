// Common mistakes in requests and the exact error messages, without the lists of allowed values: messages.txt.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseJobRequest } from "#shared/request/job-request.ts";

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

// `npm test -- local/guides/messages -u` writes the messages again; review them as a diff.
it("explains each mistake of messages.txt in these words", async () => {
  const requests = readFileSync(FILE, "utf8")
    .split("\n\n")
    .map((entry) => entry.split("\n")[0] ?? "");
  const explained = requests.map((line) => {
    const error = errorFor(changesOf(line));
    return `${line}\n${error?.code}: ${error?.message}`;
  });
  const messages = explained.map((entry) => entry.split("\n")[1]);
  expect(messages.join("\n")).not.toMatch(/secret\/|user:pass/);
  await expect(`${explained.join("\n\n")}\n`).toMatchFileSnapshot(FILE);
});
