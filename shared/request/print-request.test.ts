// Tests that a printed request has the same meaning as the original.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printFormat } from "../format/print-format.ts";
import { completeBody } from "../testing/arbitrary-body.ts";
import { formatSpecs } from "../testing/arbitrary-format.ts";
import { type JobRequest, parseJobRequest } from "./job-request.ts";
import { printRequest, type Requested } from "./print-request.ts";

const keys = { access_key_id: "AKID", secret_access_key: "secret" };
const BODY = {
  input: { url: "https://media.example.com/video.mp4" },
  storage: { service: "s3", bucket: "videos", region: "eu-west-1", credentials: keys },
  outputs: { "mp4:720p": { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
};

/** Returns the meaning of a body as jobs store it, without secrets. */
function meaningOf(body: unknown): Requested {
  const parsed = parseJobRequest(body, "none");
  if (!parsed.ok) throw new Error(`${parsed.error.message} in ${JSON.stringify(body)}`);
  const { secrets: _, storage, ...rest }: JobRequest = parsed.value;
  const stored = storage.kind === "builtin" ? { ...storage, origin: "https://copra.example.com" } : storage;
  if (stored.kind === "backblaze") throw new Error("Only the service knows its buckets");
  // A format with a hash is printed as a name. The default key becomes a `key`, which has no alias.
  const outputs = rest.outputs.map(({ alias: _alias, ...output }) => output);
  return JSON.parse(JSON.stringify({ ...rest, outputs, storage: stored }));
}

/** Returns the printed body, with credentials where the original has them. */
function printed(body: unknown): unknown {
  const { input, storage, notification, ...rest } = printRequest(meaningOf(body));
  const sections = body as Record<string, { credentials?: unknown }>;
  const withKeys = (name: string, section: object) => {
    const { credentials } = sections[name] ?? {};
    return credentials === undefined ? section : { ...section, credentials };
  };
  return {
    ...rest,
    input: withKeys("input", input),
    storage: withKeys("storage", storage),
    notification: withKeys("notification", notification),
  };
}

/** Removes the query of an upload URL, which may be secret and is not printed. */
const publicOf = (requested: Requested): Requested =>
  requested.storage.kind === "http"
    ? { ...requested, storage: { ...requested.storage, url: requested.storage.url.replace(/\?.*/, "") } }
    : requested;

describe("a printed request", () => {
  it("has the same meaning as the original", () => {
    const outputs = fc
      .uniqueArray(formatSpecs, { minLength: 1, maxLength: 8, selector: printFormat })
      .map((specs) => Object.fromEntries(specs.map((spec, at) => [printFormat(spec), { path: `${at}/f-%02d.ts` }])));
    const body = fc.oneof(
      completeBody,
      outputs.map((some) => ({ ...BODY, outputs: some })),
    );
    fc.assert(
      fc.property(
        body.filter((one) => parseJobRequest(one, "none").ok),
        (one) => {
          expect(meaningOf(printed(one))).toEqual(publicOf(meaningOf(one)));
        },
      ),
      { numRuns: 200 },
    );
  });

  const sections: [name: string, section: "storage" | "outputs" | "notification" | "settings", given: object][] = [
    ["Amazon S3", "storage", { service: "s3", bucket: "v.x", region: "us-east-1", path: "/a", secure: false }],
    ["Google", "storage", { service: "gcs", bucket: "v", acl: "project-private", expires: "2026-01-01" }],
    ["Spaces", "storage", { service: "dospaces", bucket: "v", endpoint: "https://fra1.digitaloceanspaces.com" }],
    ["Linode", "storage", { service: "linode", bucket: "v", region: "us-east-1" }],
    ["Wasabi", "storage", { service: "wasabi", bucket: "v", region: "eu-central-1", storage_class: "STANDARD" }],
    ["R2", "storage", { service: "r2", bucket: "v", account_id: "0123456789abcdef0123456789abcdef" }],
    ["R2 in a jurisdiction", "storage", { service: "r2", bucket: "v", endpoint: "https://x.eu.r2.example.com" }],
    ["another service", "storage", { service: "s3other", bucket: "v", endpoint: "https://s3.example.com/base/" }],
    [
      "keys and conditions",
      "outputs",
      {
        "mp4:240p": [{ path: "a.mp4" }, { path: "b.mp4", key: "two", if: "{{ input.width }} > 1" }],
        mp3: { path: "c" },
      },
    ],
    ["a key like that of another", "outputs", { "mp4:240p": { path: "a.mp4", key: "mp4:360p" } }],
    ["a format with a hash", "outputs", { mp4: { path: "a.mp4", format: { resolution: "640x360" } } }],
    ["fractions of seconds", "outputs", { "mp4:240p": { path: "a.mp4", offset: 0.3, duration: 4.35 } }],
    ["no images but one", "outputs", { "jpg:1x": { path: "a.jpg", transpose: 0, vflip: true, fit: "crop" } }],
    ["HLS of version 3", "outputs", { httpstream: { path: "a", hls: { path: "b", version: 3 } } }],
    ["no notification", "notification", { type: "none" }],
    [
      "hops",
      "settings",
      {
        hop: [
          { after_s: 1, require: [] },
          { after_s: 9, queue: "other", priority: -3 },
        ],
      },
    ],
  ];
  it.each(sections)("has the same meaning as the original: %s", (_, section, given) => {
    const body = { ...BODY, [section]: section === "storage" ? { ...given, credentials: keys } : given };
    expect(meaningOf(printed(body))).toEqual(meaningOf(body));
  });

  it.each([
    { service: "azure", container: "videos", key: "a b" },
    { service: "azure", container: "videos", key: "a", endpoint: "https://azure.example.com/media1" },
  ])("prints the input %j without its credentials", (given) => {
    const credentials = { account: "media1", api_key: "c2VjcmV0" };
    expect(printRequest(meaningOf({ ...BODY, input: { ...given, credentials } })).input).toEqual(given);
  });

  it("prints a folder on nodes", () => {
    const input = { service: "folder", folder: "media", path: "in/a b.mov" };
    const storage = { service: "folder", folder: "media", path: "out" };
    expect(printRequest(meaningOf({ ...BODY, input, storage }))).toMatchObject({ input, storage });
  });

  it("names the service as in the client's request", () => {
    const services = ["s3", "gcs", "dospaces", "linode", "wasabi"];
    const names = services.map((service) => {
      const region = service === "gcs" ? {} : { region: "nyc3" };
      return printRequest(meaningOf({ ...BODY, storage: { service, bucket: "v", ...region, credentials: keys } }));
    });
    expect(names.map(({ storage }) => storage.service)).toEqual(services);
  });
});
