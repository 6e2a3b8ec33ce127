import { describe, expect, it } from "vitest";
import { parseStorage } from "./storage-section.ts";

const azure = { service: "azure", container: "videos", credentials: { account: "media1", api_key: "c2VjcmV0" } };
const azureSpec = {
  kind: "azure",
  endpoint: "https://media1.blob.core.windows.net",
  account: "media1",
  container: "videos",
  path: "",
  cacheControl: null,
};
const azureKeys = { accessKeyId: "media1", secretAccessKey: "c2VjcmV0" };

describe("storages without an S3 API", () => {
  const accepted: [object, object, object | null][] = [
    [azure, azureSpec, azureKeys],
    [
      { ...azure, path: "/v/", cache_control: "max-age=9", endpoint: "https://azure.example.com/media1/" },
      { ...azureSpec, path: "/v/", cacheControl: "max-age=9", endpoint: "https://azure.example.com/media1" },
      azureKeys,
    ],
    [{ service: "coconut" }, { kind: "builtin", path: "" }, null],
    [{ service: "coconut", path: "v" }, { kind: "builtin", path: "v" }, null],
    [{ url: "http://up.example.com" }, { kind: "http", url: "http://up.example.com/" }, null],
    [
      { url: "https://us%C3%A9r:p%40ss@up.example.com:8443/in/?id=7#top" },
      { kind: "http", url: "https://up.example.com:8443/in/?id=7" },
      { accessKeyId: "usér", secretAccessKey: "p@ss" },
    ],
  ];
  it.each(accepted)("are accepted with their keys: %j", (section, storage, keys) => {
    expect(parseStorage(section, "none")).toEqual({ ok: true, value: { storage, keys } });
  });

  const rejected: [object, string, string][] = [
    [{ ...azure, credentials: { account: "media1" } }, "storage_credentials_not_valid", "`api_key`"],
    [{ ...azure, credentials: { account: "M/1", api_key: "c2VjcmV0" } }, "storage_credentials_not_valid", "account"],
    [{ ...azure, credentials: { account: "media1", api_key: "no key" } }, "storage_credentials_not_valid", "Base64"],
    [{ ...azure, container: "two--hyphens" }, "storage_not_valid", "`storage.container`"],
    [{ ...azure, container: undefined }, "storage_not_valid", "`storage.container`"],
    [
      { ...azure, bucket: "videos" },
      "storage_not_valid",
      "`storage` has no field `bucket`; did you mean `container`? Allowed: service, ",
    ],
    [{ ...azure, path: "a/../b" }, "storage_not_valid", "`storage.path`"],
    [{ ...azure, cache_control: "a\r\nb: c" }, "storage_not_valid", "`storage.cache_control`"],
    [{ ...azure, endpoint: "https://10.0.0.1/" }, "storage_not_valid", "not a public address"],
    [{ ...azure, endpoint: "https://u:p@azure.example.com/" }, "storage_not_valid", "without user"],
    [{ service: "coconut", bucket: "videos" }, "storage_not_valid", "no field `bucket`; allowed: service, path"],
    [{ url: "" }, "storage_not_valid", "`storage.url`"],
    [{ url: "up.example.com" }, "storage_not_valid", "has no scheme"],
    [{ url: "sftp://up.example.com/in" }, "storage_not_valid", "`sftp`"],
    [{ url: "http://169.254.169.254/" }, "storage_not_valid", "not a public address"],
    [{ url: "https://u:%zz@up.example.com/" }, "storage_credentials_not_valid", "percent-encoded"],
    [{ url: "https://up.example.com/", path: "v" }, "storage_not_valid", "has no field `path`; allowed: url"],
  ];
  it.each(rejected)("are rejected with an error that names the field: %j", (section, code, text) => {
    const parsed = parseStorage(section, "none");
    expect(parsed).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(text) } });
  });
});
