import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { settingsOf } from "../settings.ts";
import { requireFolder } from "./require-folder.ts";

const FOLDERS = "media:one+two, archive:*";

it.each([
  ["one", "media"],
  ["two", "media"],
  ["three", "archive"],
])("the account %s may use the folder %s", (id, folder) => {
  const user = { env: { ...env, FOLDERS }, account: { id } };
  expect(() => requireFolder(user, "input", folder)).not.toThrow();
});

it.each([
  [FOLDERS, "three", "media", "the folders of the account are archive"],
  [FOLDERS, "one", "other", "the folders of the account are media, archive"],
  [FOLDERS, "on", "media", "the folders of the account are archive"],
  [undefined, "one", "media", "the account has no folders"],
])("with FOLDERS %s the account %s has no folder %s", (folders, id, folder, advice) => {
  const user = { env: { ...env, ...(folders ? { FOLDERS: folders } : {}) }, account: { id } };
  expect(() => requireFolder(user, "storage", folder)).toThrow(
    `\`storage.folder\` \`${folder}\` is not available: ${advice}`,
  );
});

it.each(["media", "media:", "Media:*", "a:b:c"])("the setting %s is rejected", (value) => {
  expect(() => settingsOf({ ...env, FOLDERS: value })).toThrow("FOLDERS");
});
