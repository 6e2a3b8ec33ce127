import { expect, it } from "vitest";
import { hex } from "./bytes.ts";
import { masterKeysOf } from "./master-secret.ts";
import { seal, unseal } from "./sealed-secret.ts";

const OLD = "0123456789abcdefghijklmnopqrstuvwxyz";
const NEW = "zyxwvutsrqponmlkjihgfedcba9876543210";

it("derives the same keys from the same secret, and other keys from another secret", async () => {
  const hkdf = async (secret: string, purpose: string) => {
    const encoder = new TextEncoder();
    const key = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveBits"]);
    const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encoder.encode(purpose) };
    return hex(await crypto.subtle.deriveBits(parameters, key, 256));
  };
  const [sealingKey] = masterKeysOf(OLD);
  // Stored secrets depend on these values: they must never change.
  expect(sealingKey?.id).toBe(`m${(await hkdf(OLD, "copra key name 1")).slice(0, 8)}`);
  expect(hex(sealingKey?.bytes ?? [])).toBe(await hkdf(OLD, "copra sealing key 1"));
  expect(masterKeysOf(NEW)[0]?.id).not.toBe(sealingKey?.id);
});

it("unseals with the old secret while both secrets are set, and seals with the new secret", async () => {
  const sealed = await seal("a key", "context", masterKeysOf(OLD));
  const both = masterKeysOf(` ${NEW}, ${OLD}`);
  expect(await unseal(sealed, "context", both)).toBe("a key");
  const again = await seal("a key", "context", both);
  expect(await unseal(again, "context", masterKeysOf(NEW))).toBe("a key");
  await expect(unseal(again, "context", masterKeysOf(OLD))).rejects.toThrow("sealing key `m");
});

it("rejects a short secret", () => {
  expect(() => masterKeysOf(`${NEW},short`)).toThrow(/at least 32 characters; create it with: openssl rand/);
});
