import { describe, expect, it } from "vitest";
import { parseStorage } from "#shared/request/storage-section.ts";
import { publicUrlOf } from "./object-store.ts";
import { partSizes } from "./s3-store.ts";
import { parseSealingKeys, seal, unseal } from "./sealed-secret.ts";

const MIB = 2 ** 20;

describe("object addresses", () => {
  const credentials = { access_key_id: "id", secret_access_key: "secret" };
  const s3 = (changes: object = {}) => ({
    service: "s3",
    bucket: "films",
    region: "eu-west-1",
    credentials,
    ...changes,
  });
  const other = (changes: object = {}) => ({
    service: "s3other",
    bucket: "films",
    endpoint: "https://s3.example.com",
    credentials,
    ...changes,
  });
  const rows: [object, string, string][] = [
    [s3(), "a.mp4", "https://films.s3.eu-west-1.amazonaws.com/a.mp4"],
    [s3({ bucket: "films.example.com" }), "a.mp4", "https://s3.eu-west-1.amazonaws.com/films.example.com/a.mp4"],
    [s3({ path: "/vod/" }), "/x/a.mp4", "https://films.s3.eu-west-1.amazonaws.com/vod/x/a.mp4"],
    [s3(), "a b+c(1)'ü%.mp4", "https://films.s3.eu-west-1.amazonaws.com/a%20b%2Bc%281%29%27%C3%BC%25.mp4"],
    [other(), "a.mp4", "https://films.s3.example.com/a.mp4"],
    [other({ force_path_style: true }), "a.mp4", "https://s3.example.com/films/a.mp4"],
    [
      other({ force_path_style: true, endpoint: "http://127.0.0.1:9000/" }),
      "a.mp4",
      "http://127.0.0.1:9000/films/a.mp4",
    ],
    [other({ force_path_style: true, endpoint: "https://s3.example.com/base/" }), "a.mp4", "https://s3.example.com/base/films/a.mp4"],
  ];
  it.each(rows)("row %#", (storage, name, url) => {
    const parsed = parseStorage(storage, "loopback");
    expect(parsed.ok && publicUrlOf(parsed.value.storage, name)).toBe(url);
  });
});

describe("parts", () => {
  it("are one for a small file, equal but the last, and never too many", () => {
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
  });
});

describe("sealed secrets", () => {
  const one = `k1:${btoa("a".repeat(32))}`;
  const two = `k2:${btoa("b".repeat(32))}`;

  it("open with their key and context only, also after the keys were rotated", async () => {
    const sealed = await seal("secret", "job:1", parseSealingKeys(one));
    expect(sealed).toMatch(/^s1\.k1\./);
    expect(await unseal(sealed, "job:1", parseSealingKeys(`${two},${one}`))).toBe("secret");
    await expect(unseal(sealed, "job:2", parseSealingKeys(one))).rejects.toThrow();
    await expect(unseal(sealed, "job:1", parseSealingKeys(two))).rejects.toThrow(/"k1"/);
    await expect(unseal(`${sealed.slice(0, -4)}AAA=`, "job:1", parseSealingKeys(one))).rejects.toThrow();
    expect(await seal("secret", "job:1", parseSealingKeys(one))).not.toBe(sealed);
  });

  it("need keys of 32 bytes", () => {
    for (const text of ["", "k1", "k1:YQ==", `k 1:${btoa("a".repeat(32))}`]) {
      expect(() => parseSealingKeys(text), text).toThrow(/SEALING_KEYS/);
    }
  });
});
