import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { JobId } from "#shared/ids.ts";
import { parseStorage } from "#shared/request/storage/storage-section.ts";
import { parseSealingKeys, seal, unseal } from "../crypto/sealed-secret.ts";
import { openStore, publicUrlOf } from "./open-store.ts";
import { resolveStorage } from "./resolve-storage.ts";
import { earlyPartBytes, earlyPlaces, partSizes } from "./upload-limits.ts";

const MIB = 2 ** 20;

describe("object addresses", () => {
  const credentials = { access_key_id: "id", secret_access_key: "secret" };
  const S3 = { service: "s3", bucket: "videos", region: "eu-west-1", credentials };
  const s3 = (changes: object = {}) => ({ ...S3, ...changes });
  const other = (changes: object = {}) => ({
    service: "s3other",
    bucket: "videos",
    endpoint: "https://s3.example.com",
    credentials,
    ...changes,
  });
  const azure = (changes: object = {}) => ({
    service: "azure",
    container: "videos",
    credentials: { account: "media", api_key: "c2VjcmV0" },
    ...changes,
  });
  const rows: [object, string, string][] = [
    [azure(), "a b.mp4", "https://media.blob.core.windows.net/videos/a%20b.mp4"],
    [
      azure({ endpoint: "http://127.0.0.1:1/media/", path: "/v/" }),
      "/a.mp4",
      "http://127.0.0.1:1/media/videos/v/a.mp4",
    ],
    [azure({ container: "$web" }), "a.mp4", "https://media.blob.core.windows.net/%24web/a.mp4"],
    [{ service: "coconut" }, "x/a ü.mp4", "https://copra.test/storage/AAAAAAAAAAAAAA/x/a%20%C3%BC.mp4"],
    [{ service: "coconut", path: "/v/" }, "a.mp4", "https://copra.test/storage/AAAAAAAAAAAAAA/v/a.mp4"],
    [{ url: "https://u:p%40@media.example.com" }, "/a b.mp4", "https://media.example.com/a%20b.mp4"],
    [
      { url: "https://media.example.com/up/?id=7&x=a%20b#f" },
      "v/a.mp4",
      "https://media.example.com/up/v/a.mp4?id=7&x=a%20b",
    ],
    [s3(), "a.mp4", "https://videos.s3.eu-west-1.amazonaws.com/a.mp4"],
    [s3({ bucket: "videos.example.com" }), "a.mp4", "https://s3.eu-west-1.amazonaws.com/videos.example.com/a.mp4"],
    [s3({ path: "/vod/" }), "/x/a.mp4", "https://videos.s3.eu-west-1.amazonaws.com/vod/x/a.mp4"],
    [s3(), "a b+c(1)'ü%.mp4", "https://videos.s3.eu-west-1.amazonaws.com/a%20b%2Bc%281%29%27%C3%BC%25.mp4"],
    [other(), "a.mp4", "https://videos.s3.example.com/a.mp4"],
    [other({ force_path_style: true }), "a.mp4", "https://s3.example.com/videos/a.mp4"],
    [
      other({ force_path_style: true, endpoint: "http://127.0.0.1:9000/" }),
      "a.mp4",
      "http://127.0.0.1:9000/videos/a.mp4",
    ],
    [
      other({ force_path_style: true, endpoint: "https://s3.example.com/base/" }),
      "a.mp4",
      "https://s3.example.com/base/videos/a.mp4",
    ],
  ];
  const id = "AAAAAAAAAAAAAA" as JobId;
  it.each(rows)("builds the URL of an object (row %#)", async (requested, name, url) => {
    const parsed = parseStorage(requested, "loopback");
    if (!parsed.ok) throw new Error(parsed.error.message);
    const { keys } = parsed.value;
    const storage = await resolveStorage(parsed.value.storage, {
      env,
      origin: "https://copra.test",
      keys,
      account: { id: "a" },
    });
    expect(publicUrlOf({ id, storage }, name)).toBe(url);
  });
});

/** Jobs may be older than the operator's current setting, so the setting at their creation proves nothing. */
it.each([
  "http://127.0.0.1:9",
  "http://10.0.0.1",
  "http://169.254.169.254",
  "http://[fd00::1]",
  "https://minio.internal",
])("no request of the Worker's own goes to a storage at %s that is not allowed any more", async (endpoint) => {
  const fetched = vi.spyOn(globalThis, "fetch");
  const output = { key: "mp4", type: "video" } as const;
  const file = { output, objectName: "a.mp4", contentType: "video/mp4", cacheControl: null, sizeBytes: 100 * MIB };
  const credentials = { access_key_id: "id", secret_access_key: "secret" };
  const bodies = [
    { url: `${endpoint}/upload` },
    { service: "s3other", bucket: "videos", endpoint, force_path_style: true, credentials },
    {
      service: "azure",
      container: "videos",
      endpoint: `${endpoint}/a`,
      credentials: { account: "a", api_key: "c2VjcmV0" },
    },
  ];
  for (const body of bodies) {
    const parsed = parseStorage(body, "all");
    // No setting allows this URL, so no job can have it.
    if (!parsed.ok) continue;
    const origin = "https://copra.test";
    const { storage: requested, keys } = parsed.value;
    const storage = await resolveStorage(requested, { env, origin, keys, account: { id: "a" } });
    const spec = { id: "AAAAAAAAAAAAAA" as JobId, storage };
    const store = openStore(spec, parsed.value.keys, { ...env, ALLOW_PRIVATE: "none" });
    const rejection = { code: "storage_address_not_allowed" };
    await expect(store.check(file)).rejects.toMatchObject(rejection);
    if (!("url" in body)) await expect(store.complete(file, "upload", ["etag"])).rejects.toMatchObject(rejection);
  }
  expect(fetched).not.toHaveBeenCalled();
  fetched.mockRestore();
});

describe("parts of an upload", () => {
  it("stores a small file in a single part, and large files in a limited number of equal parts except the last", () => {
    expect(partSizes(0)).toEqual([0]);
    expect(partSizes(16 * MIB)).toEqual([16 * MIB]);
    expect(partSizes(16 * MIB + 1)).toEqual([16 * MIB, 1]);
    expect(partSizes(32 * MIB)).toEqual([16 * MIB, 16 * MIB]);
    for (const sizeBytes of [100 * MIB + 7, 2 ** 35 + 1, 5 * 2 ** 40]) {
      const sizes = partSizes(sizeBytes);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(sizeBytes);
      expect(sizes.length).toBeLessThanOrEqual(500);
      expect(new Set(sizes.slice(0, -1)).size).toBeLessThanOrEqual(1);
    }
    expect(new Set(partSizes(2 ** 36, 90 * MIB).slice(0, -1))).toEqual(new Set([90 * MIB]));
  });

  it.each([
    [1, 5],
    [200 * MIB, 5],
    [400 * MIB, 10],
    [2 ** 30, 16],
    [16 * 2 ** 30, 33],
    [2 ** 46, 64],
  ])("splits an incomplete file of about %i bytes into parts of %i MiB", (expectedBytes, mib) => {
    expect(earlyPartBytes(expectedBytes)).toBe(mib * MIB);
  });

  it("has only whole parts until the size of the file is known", () => {
    expect(earlyPlaces(10, 0, [0, 7])).toEqual([
      { number: 1, offset: 0, sizeBytes: 10 },
      { number: 8, offset: 70, sizeBytes: 10 },
    ]);
    expect(earlyPlaces(10, 75, [7])).toEqual([{ number: 8, offset: 70, sizeBytes: 5 }]);
    expect(earlyPlaces(10, 70, [7])).toBeNull();
  });
});

describe("sealed secrets", () => {
  const firstKey = `k1:${btoa("a".repeat(32))}`;
  const nextKey = `k2:${btoa("b".repeat(32))}`;

  it("can be unsealed only with their key and context, also after a rotation", async () => {
    const sealed = await seal("secret", "job:1", parseSealingKeys(firstKey));
    expect(sealed).toMatch(/^s1\.k1\./);
    expect(await unseal(sealed, "job:1", parseSealingKeys(`${nextKey},${firstKey}`))).toBe("secret");
    await expect(unseal(sealed, "job:2", parseSealingKeys(firstKey))).rejects.toThrow();
    await expect(unseal(sealed, "job:1", parseSealingKeys(nextKey))).rejects.toThrow(/`k1`/);
    await expect(unseal(`${sealed.slice(0, -4)}AAA=`, "job:1", parseSealingKeys(firstKey))).rejects.toThrow();
    expect(await seal("secret", "job:1", parseSealingKeys(firstKey))).not.toBe(sealed);
  });

  it("rejects keys that do not have 32 bytes", () => {
    for (const text of ["", "k1", "k1:YQ==", `k 1:${btoa("a".repeat(32))}`]) {
      expect(() => parseSealingKeys(text), text).toThrow(/SEALING_KEYS/);
    }
  });
});
