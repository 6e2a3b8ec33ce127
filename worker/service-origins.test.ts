import { describe, expect, it } from "vitest";
import type { InputSpec } from "#shared/request/input-section.ts";
import type { StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { ownUrlsOf, placeAtService, serviceOrigins } from "./service-origins.ts";

const PUBLIC = "http://10.0.0.5:8787";
const S3 = "http://10.0.0.5:9000";
const bucketAt = (endpoint: string) => ({ endpoint, region: "auto", bucket: "b", addressing: "path" as const });
const settings = {
  publicUrl: PUBLIC,
  scratch: { bucket: bucketAt(S3), keys: { accessKeyId: "i", secretAccessKey: "s" }, readOrigin: false },
};

const url = (text: string): [InputSpec, string] => [{ kind: "url", url: text }, text];
const bucket = (endpoint: string): [InputSpec, string] => [
  { kind: "bucket", ...bucketAt(endpoint), key: "a.mp4" },
  `${endpoint}/b/a.mp4?X-Amz-Signature=x`,
];
const upload = (store: "bucket" | "scratch"): [InputSpec, string] => [
  { kind: "upload", id: "u", name: "a.mp4", store, origin: PUBLIC },
  `${PUBLIC}/storage/uploads/u?signature=x`,
];
const s3 = (endpoint: string) => ({ kind: "s3", ...bucketAt(endpoint) }) as StorageSpec;
const ELSEWHERE = s3("https://s3.example.com");

describe("the URLs of a task that the service has signed for its own origins", () => {
  it.each<[string, [InputSpec, string], StorageSpec, string[]]>([
    ["an upload", upload("bucket"), ELSEWHERE, ["source"]],
    ["an upload in the scratch bucket", upload("scratch"), ELSEWHERE, ["source"]],
    ["a client's bucket on the own S3 server", bucket(S3), s3(S3), ["source", "storage"]],
    ["a client's bucket elsewhere", bucket("http://10.0.0.6:9000"), ELSEWHERE, []],
    ["an output in the own storage", url(`${PUBLIC}/storage/job/out.mp4`), ELSEWHERE, ["source"]],
    ["the sample clip", url(`${PUBLIC}/assets/sample.mp4`), ELSEWHERE, ["source"]],
    ["the own storage", url("https://example.com/a.mp4"), { kind: "builtin", origin: PUBLIC, path: "" }, ["storage"]],
    ["a client's URL of the own S3 server", url(`${S3}/copra/a.mp4`), ELSEWHERE, []],
    ["a client's URL of the control plane", url(`${PUBLIC}/metrics`), ELSEWHERE, []],
    ["a client's URL that only looks like an output", url(`${PUBLIC}/storage/../metrics`), ELSEWHERE, []],
    ["a bucket at the control plane", bucket(PUBLIC), s3(PUBLIC), []],
  ])("lists the signed URLs for %s", (_, [input, sourceUrl], storage, own) => {
    expect(ownUrlsOf({ input, storage }, sourceUrl, settings)).toEqual(own);
  });
});

it("states the origins of uploads and of the scratch bucket, if there are any", () => {
  const STORAGE = {} as R2Bucket;
  const controlPlane = { origin: PUBLIC, use: "control plane" };
  const scratch = { origin: S3, use: "scratch" };
  expect(serviceOrigins(settings, { STORAGE }, "http://other")).toEqual([controlPlane, scratch]);
  expect(serviceOrigins({ publicUrl: null, scratch: null }, { STORAGE }, PUBLIC)).toEqual([controlPlane]);
  expect(serviceOrigins(settings, {}, "http://other")).toEqual([scratch]);
});

it("knows the control plane's own URLs by their origin", () => {
  expect(placeAtService(`${PUBLIC}/v2/health`, settings)).toBe("other");
  expect(placeAtService("http://10.0.0.5:8788/v2/health", settings)).toBeNull();
});
