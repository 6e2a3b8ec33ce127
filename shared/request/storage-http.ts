// A client's own upload address, which takes one POST of multipart/form-data per file.
import * as z from "zod";
import { checkUrl } from "../address-policy.ts";
import { parseSection, refuse, text } from "./parse-section.ts";
import type { StorageService } from "./storage-service.ts";
import type { AccessKeys } from "./storage-spec.ts";

const body = z
  .strictObject({
    url: text(2048).describe("http or https; a user and password in it are sealed and sent as a Basic header"),
  })
  .describe("An upload address: each file is POSTed to it and the output's path, in the field `encoded_video`");

/** Chosen by a `url` in place of a `service`. */
export const httpUpload: StorageService = {
  body,
  parse(value, allow) {
    const fields = parseSection(body, value, "storage", "storage_not_valid");
    if (!fields.ok) return fields;
    const verdict = checkUrl(fields.value.url, allow);
    if (!verdict.ok) return refuse("storage_not_valid", `\`storage.url\`: ${verdict.reason}`);
    const url = new URL(verdict.url);
    const keys = keysOf(url);
    if (keys === "malformed") {
      return refuse("storage_credentials_not_valid", "The user and password in `storage.url` must be percent-encoded");
    }
    return { ok: true, value: { storage: { kind: "http", url: url.origin + url.pathname + url.search }, keys } };
  },
};

/** The user and password of an address, null when it has none. */
function keysOf({ username, password }: URL): AccessKeys | null | "malformed" {
  if (username === "" && password === "") return null;
  try {
    return { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) };
  } catch {
    return "malformed";
  }
}
