import { expect, it } from "vitest";
import * as z from "zod";
import { InputBody, parseInput } from "./input-section.ts";

const credentials = { access_key_id: "AKID", secret_access_key: "secret/+=" };
const s3 = { service: "s3", bucket: "videos", region: "eu-west-1", key: "/in/video 1.mp4", credentials };
const other = { service: "s3other", endpoint: "http://127.0.0.1:9000", bucket: "videos", key: "a", credentials };
const B2 = { app_key_id: "AKID", app_key: "secret/+=" };
const AZURE = {
  service: "azure",
  container: "videos",
  key: "/in/a",
  credentials: { account: "media1", api_key: "c2VjcmV0" },
};
const account = "023e105f4ecef8ad9ca31a8372d0c353";

it.each<[body: object, input: object, secret: boolean | null]>([
  [
    { url: "https://u:p@media.example.com:8443/a.mp4?s=1" },
    { kind: "url", url: "https://media.example.com:8443/a.mp4" },
    false,
  ],
  [
    s3,
    {
      kind: "bucket",
      endpoint: "https://s3.eu-west-1.amazonaws.com",
      region: "eu-west-1",
      bucket: "videos",
      addressing: "host",
      key: "in/video 1.mp4",
    },
    true,
  ],
  [{ upload: "h2Ks9dQ0aLwE4nRb7TcX" }, { kind: "upload", id: "h2Ks9dQ0aLwE4nRb7TcX" }, null],
  [{ ...s3, key: "//a//b" }, { key: "/a//b" }, true],
  [{ ...other, force_path_style: true }, { endpoint: "http://127.0.0.1:9000", addressing: "path", key: "a" }, true],
  [{ ...s3, region: undefined }, { endpoint: "https://s3.us-east-1.amazonaws.com", region: "us-east-1" }, true],
  [{ ...s3, service: "gcs", region: undefined }, { endpoint: "https://storage.googleapis.com", region: "auto" }, true],
  [{ ...s3, service: "dospaces", region: "ams3" }, { endpoint: "https://ams3.digitaloceanspaces.com" }, true],
  [{ ...s3, service: "linode", region: "us-ord-1" }, { endpoint: "https://us-ord-1.linodeobjects.com" }, true],
  [{ ...s3, service: "wasabi", region: "us-east-2" }, { endpoint: "https://s3.us-east-2.wasabisys.com" }, true],
  [
    { service: "backblaze", bucket_id: "e73ede9c", key: "/a b.mp4", credentials: B2 },
    { kind: "backblaze", bucketId: "e73ede9c", key: "a b.mp4" },
    true,
  ],
  [
    AZURE,
    {
      kind: "azure",
      endpoint: "https://media1.blob.core.windows.net",
      account: "media1",
      container: "videos",
      key: "in/a",
    },
    true,
  ],
  [{ ...AZURE, endpoint: "http://127.0.0.1:1/media1/" }, { endpoint: "http://127.0.0.1:1/media1" }, true],
  [
    { service: "r2", bucket: "videos", key: "a", account_id: account, credentials },
    { endpoint: `https://${account}.r2.cloudflarestorage.com`, region: "auto" },
    true,
  ],
])("row %#: parses a valid input and separates its secrets", (body, input, secret) => {
  const parsed = parseInput(body, "loopback");
  expect(parsed).toMatchObject({ ok: true, value: { input } });
  const keys = { accessKeyId: "AKID", secretAccessKey: "secret/+=" };
  const urlOrNone = secret === null ? null : body;
  const credentials =
    body === AZURE || "container" in body ? { accessKeyId: "media1", secretAccessKey: "c2VjcmV0" } : keys;
  expect(parsed.ok && parsed.value.secret).toEqual(secret ? credentials : urlOrNone);
  expect(JSON.stringify(parsed.ok && parsed.value.input)).not.toContain("secret");
});

it("keeps headers with the secret, in lower case", () => {
  const headers = { Authorization: "Bearer secret/1", "X-Token": "a b\t~" };
  const parsed = parseInput({ url: "https://example.com/a.mp4?s=1", headers }, "none");
  expect(parsed).toEqual({
    ok: true,
    value: {
      input: { kind: "url", url: "https://example.com/a.mp4" },
      secret: {
        url: "https://example.com/a.mp4?s=1",
        headers: { authorization: "Bearer secret/1", "x-token": "a b\t~" },
      },
    },
  });
});

it.each<[what: string, headers: unknown, text: string]>([
  ["a list", ["secret/"], "`input.headers` must be an object of names and values"],
  ["too many", Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`x-${at}`, "a"])), "at most 10 headers"],
  ["the host", { Host: "secret/" }, "`input.headers.Host` is a header that the service sets itself"],
  ["a range", { range: "bytes=0-1" }, "`input.headers.range` is a header that the service sets itself"],
  ["a length", { "Content-Length": "1" }, "`input.headers.Content-Length` is a header that the service sets"],
  ["a condition", { "If-None-Match": "a" }, "`input.headers.If-None-Match` is a header that the service sets"],
  ["a connection option", { Connection: "close" }, "`input.headers.Connection` is a header that the service sets"],
  ["a proxy's credentials", { "proxy-authorization": "secret/" }, "proxy-authorization` is a header that the service"],
  ["a value in its name", { "Authorization: secret/": "" }, "`input.headers.Authorization…`: a name has 1 to 64"],
  ["no name", { "": "a" }, "`input.headers.`: a name has 1 to 64 characters"],
  ["a name twice", { "X-A": "a", "x-a": "b" }, "`input.headers.x-a` is there twice: names ignore case"],
  ["a line break", { "x-a": "secret/\r\nhost: b" }, "`input.headers.x-a` must be 1 to 4096 printable ASCII characters"],
  ["other letters", { "x-a": "secret/ü" }, "`input.headers.x-a` must be 1 to 4096 printable ASCII"],
  ["spaces around it", { "x-a": " secret/" }, "without spaces around them"],
  ["an empty value", { "x-a": "" }, "`input.headers.x-a` must be 1 to 4096"],
  ["a number", { "x-a": 7 }, "`input.headers.x-a` must be 1 to 4096"],
  ["a long value", { "x-a": "a".repeat(4097) }, "`input.headers.x-a` must be 1 to 4096"],
])("rejects headers with %s, and repeats no value", (_, headers, text) => {
  const parsed = parseInput({ url: "https://example.com/", headers }, "none");
  const error = { code: "input_not_valid", message: expect.stringContaining(text) };
  expect(parsed).toMatchObject({ ok: false, error });
  expect(JSON.stringify(parsed)).not.toContain("secret/");
});

it("accepts an Authorization header or a user in the URL, not both", () => {
  const headers = { authorization: "Bearer a" };
  expect(parseInput({ url: "https://u:p@example.com/", headers: { "x-a": "b" } }, "none")).toMatchObject({ ok: true });
  expect(parseInput({ url: "https://u:p@example.com/", headers }, "none")).toMatchObject({
    error: { message: expect.stringContaining("is not possible beside a user and password in `input.url`") },
  });
});

it("describes every service of inputs in a JSON Schema", () => {
  const { anyOf } = z.toJSONSchema(InputBody, { io: "input", unrepresentable: "any" });
  const services = ["s3", "gcs", "dospaces", "linode", "wasabi", "r2", "s3other", "backblaze", "azure", "folder"];
  const described = anyOf?.map((service) => service.properties?.service);
  expect(described).toEqual([
    undefined,
    undefined,
    ...services.map((name) => expect.objectContaining({ const: name })),
  ]);
});
