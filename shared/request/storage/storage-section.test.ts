import { describe, expect, it } from "vitest";
import * as z from "zod";
import { parseStorage, StorageBody } from "./storage-section.ts";

const credentials = { access_key_id: "AKID", secret_access_key: "secret/+=" };
const s3 = { service: "s3", bucket: "videos", region: "eu-west-1", credentials };
const other = { service: "s3other", bucket: "videos", endpoint: "https://s3.example.com", credentials };
const b2 = {
  service: "backblaze",
  bucket_id: "e73ede9c9c8412db49f60715",
  credentials: { app_key_id: "id", app_key: "key" },
};
const account = "023e105f4ecef8ad9ca31a8372d0c353";
const r2 = { service: "r2", bucket: "videos", account_id: account, credentials };

describe("a bucket", () => {
  it.each<[object, endpoint: string, region: string, addressing: string]>([
    [s3, "https://s3.eu-west-1.amazonaws.com", "eu-west-1", "host"],
    [{ ...s3, region: undefined }, "https://s3.us-east-1.amazonaws.com", "us-east-1", "host"],
    [{ ...s3, region: "cn-north-1" }, "https://s3.cn-north-1.amazonaws.com.cn", "cn-north-1", "host"],
    [{ ...s3, region: "eusc-de-east-1" }, "https://s3.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1", "host"],
    [{ ...s3, bucket: "videos.example.com" }, "https://s3.eu-west-1.amazonaws.com", "eu-west-1", "path"],
    [{ ...s3, bucket: "Videos_1" }, "https://s3.eu-west-1.amazonaws.com", "eu-west-1", "path"],
    [{ service: "gcs", bucket: "videos", credentials }, "https://storage.googleapis.com", "auto", "path"],
    [{ ...s3, service: "dospaces", region: "nyc3" }, "https://nyc3.digitaloceanspaces.com", "nyc3", "host"],
    [{ service: "dospaces", bucket: "videos", credentials }, "https://nyc3.digitaloceanspaces.com", "nyc3", "host"],
    [
      { service: "dospaces", bucket: "videos", credentials, endpoint: "https://videos.fra1.digitaloceanspaces.com/" },
      "https://fra1.digitaloceanspaces.com",
      "fra1",
      "host",
    ],
    [{ ...s3, service: "linode", region: "us-east-1" }, "https://us-east-1.linodeobjects.com", "us-east-1", "host"],
    [{ ...s3, service: "wasabi", region: "eu-west-1" }, "https://s3.eu-west-1.wasabisys.com", "eu-west-1", "host"],
    [r2, `https://${account}.r2.cloudflarestorage.com`, "auto", "path"],
    [
      { ...r2, account_id: undefined, endpoint: `https://${account}.eu.r2.cloudflarestorage.com/` },
      `https://${account}.eu.r2.cloudflarestorage.com`,
      "auto",
      "path",
    ],
    [other, "https://s3.example.com", "us-east-1", "host"],
    [{ ...other, region: "here", force_path_style: true }, "https://s3.example.com", "here", "path"],
    [{ ...other, endpoint: "http://127.0.0.1:9000/base/" }, "http://127.0.0.1:9000/base", "us-east-1", "path"],
    [{ ...other, endpoint: "http://[::1]:9000" }, "http://[::1]:9000", "us-east-1", "path"],
  ])("row %#: has the endpoint, region and addressing of its service", (body, endpoint, region, addressing) => {
    expect(parseStorage(body, "loopback")).toMatchObject({
      ok: true,
      value: {
        storage: { kind: "s3", endpoint, region, addressing, secure: true },
        keys: { accessKeyId: "AKID", secretAccessKey: "secret/+=" },
      },
    });
  });

  it("keeps only the bucket id of Backblaze until the service requests the name", () => {
    const options = { acl: null, storageClass: null, cacheControl: null, expires: null };
    expect(parseStorage({ ...b2, path: "/v/", secure: false }, "none")).toEqual({
      ok: true,
      value: {
        storage: { kind: "backblaze", bucketId: "e73ede9c9c8412db49f60715", path: "/v/", options, secure: false },
        keys: { accessKeyId: "id", secretAccessKey: "key" },
      },
    });
  });

  it.each<[object, object]>([
    [s3, { acl: null, storageClass: null, cacheControl: null, expires: null }],
    [
      { ...s3, acl: "public-read", storage_class: "STANDARD_IA", cache_control: "max-age=60, public" },
      { acl: "public-read", storageClass: "STANDARD_IA", cacheControl: "max-age=60, public" },
    ],
    [
      { ...other, acl: "team-read", storage_class: "COLD_1" },
      { acl: "team-read", storageClass: "COLD_1" },
    ],
    [{ ...s3, expires: "Wed, 21 Oct 2026 07:28:00 GMT" }, { expires: "Wed, 21 Oct 2026 07:28:00 GMT" }],
    [{ ...s3, expires: "2026-10-21T09:28:00+02:00" }, { expires: "Wed, 21 Oct 2026 07:28:00 GMT" }],
    [{ ...s3, expires: "2026-10-21" }, { expires: "Wed, 21 Oct 2026 00:00:00 GMT" }],
  ])("row %#: accepts object headers", (body, options) => {
    expect(parseStorage(body, "none")).toMatchObject({ ok: true, value: { storage: { options } } });
  });
});

it("describes every storage service in a JSON Schema", () => {
  const schema = z.toJSONSchema(StorageBody, { io: "input", unrepresentable: "any" });
  const buckets = ["s3", "gcs", "dospaces", "linode", "wasabi", "r2", "s3other", "backblaze", "azure"];
  const services = [...buckets, "coconut", "folder"];
  const described = schema.anyOf?.map((service) => service.properties?.service);
  expect(described).toEqual([...services.map((name) => expect.objectContaining({ const: name })), undefined]);
  expect(schema.anyOf?.[0]).toMatchObject({
    required: ["service", "credentials", "bucket"],
    properties: { region: { description: expect.any(String) }, acl: { enum: expect.arrayContaining(["private"]) } },
  });
});

it("keeps the session token of temporary keys with them", () => {
  const temporary = { ...s3, credentials: { ...credentials, session_token: "FwoGZXIvYXdzE==" } };
  expect(parseStorage(temporary, "none")).toMatchObject({
    value: { keys: { accessKeyId: "AKID", secretAccessKey: "secret/+=", sessionToken: "FwoGZXIvYXdzE==" } },
  });
});
