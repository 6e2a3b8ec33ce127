import { expect, it } from "vitest";
import { masterKeysOf } from "./master-secret.ts";
import { type Session, type SessionUse, sealSession, unsealSession } from "./session.ts";

const keysOf = (secret: string) => masterKeysOf(secret.repeat(32));
const SESSION: Session = { id: "s", key: "digest", admin: null, account: null, expiresAt: 1000 };

it.each<[string, SessionUse, string, number, Session | null]>([
  ["until it expires", "cookie", "a", 999, SESSION],
  ["not from then on", "cookie", "a", 1000, null],
  ["not for another use", { link: "digest" }, "a", 999, null],
  ["not with other keys", "cookie", "b", 999, null],
])("reads a sealed session %s", async (_, use, key, now, read) => {
  const text = await sealSession(SESSION, "cookie", keysOf("a"));
  expect(await unsealSession(text, use, { keys: keysOf(key), now })).toEqual(read);
});
