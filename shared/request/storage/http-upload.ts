// A client's own upload address, which takes one POST of multipart/form-data per file.
import { checkUrl } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { parseSection, refuse, text } from "../parse-section.ts";
import type { StorageService } from "./storage-service.ts";
import { userOf } from "./user-of.ts";

const body = strictObject({
  url: text(2048, ": the address that files are POSTed to").describe(
    "http or https; a user and password in it are sealed and sent as a Basic header",
  ),
}).describe("An upload address: each file is POSTed to it and the output's path, in the field `encoded_video`");

/** Chosen by a `url` in place of a `service`. */
export const httpUpload: StorageService = {
  body,
  parse(value, allow) {
    const fields = parseSection(body, value, "storage", "storage_not_valid");
    if (!fields.ok) return fields;
    const verdict = checkUrl(fields.value.url, allow);
    if (!verdict.ok) return refuse("storage_not_valid", `\`storage.url\`: ${verdict.reason}`);
    const address = userOf(verdict.url);
    if (!address) {
      return refuse("storage_credentials_not_valid", "The user and password in `storage.url` must be percent-encoded");
    }
    return { ok: true, value: { storage: { kind: "http", url: address.url }, keys: address.user } };
  },
};
