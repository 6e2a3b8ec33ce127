// The upload URL of a client, which receives each file in a POST of multipart/form-data.

import { checkReachableUrl } from "../../network/address-policy.ts";
import { ok } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid, parseSection, text } from "../parse-section.ts";
import type { StorageService } from "./storage-service.ts";
import { userOf } from "./user-of.ts";

const body = strictObject({
  url: text(2048, ": the URL that receives files in POST requests").describe(
    "http or https; a user and password in the URL are encrypted on arrival and sent in a Basic header",
  ),
}).describe(
  "An upload URL: each file is sent in a POST to the URL followed by the path of the output, in the field `encoded_video`",
);

/** Selected by a `url` instead of a `service`. */
export const httpUpload: StorageService = {
  body,
  parse(value, allow) {
    const fields = parseSection(body, value, "storage", "storage_not_valid");
    if (!fields.ok) return fields;
    const verdict = checkReachableUrl(fields.value.url, allow);
    if (!verdict.ok) return invalid("storage_not_valid", `\`storage.url\` ${verdict.error}`);
    const upload = userOf(verdict.value);
    if (!upload) {
      return invalid("storage_credentials_not_valid", "The user and password in `storage.url` must be percent-encoded");
    }
    return ok({ storage: { kind: "http", url: upload.url }, keys: upload.user });
  },
};
