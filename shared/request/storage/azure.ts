// Containers of Azure Blob Storage and compatible services.

import * as z from "zod";
import { checkReachableUrl } from "../../network/address-policy.ts";
import { ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid, text } from "../parse-section.ts";
import { credentialPair } from "./credentials.ts";
import { folder, headerValue } from "./folder.ts";
import { storageService } from "./storage-service.ts";
import type { AccessKeys } from "./storage-spec.ts";

const PAIR = credentialPair("account", "api_key");
/** Naming rules of Azure: storage account overview; Naming and Referencing Containers. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;
const CONTAINER = /^(?:\$web|(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9])$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export const azure = storageService({
  body: strictObject({
    service: z.literal("azure"),
    credentials: z
      .object({
        account: z.string().describe("The name of the storage account"),
        api_key: z.string().describe("One of the two access keys of the account, in Base64"),
      })
      .describe("Encrypted on arrival, never returned, never sent to encoder nodes"),
    container: text(63, ": the name of the container")
      .regex(CONTAINER, "must be the name of a container: 3 to 63 lowercase letters, digits and single hyphens")
      .describe("The name of an existing container"),
    path: folder,
    cache_control: headerValue.optional().describe("The Cache-Control header that blobs are served with"),
    endpoint: text(1024)
      .optional()
      .describe("The URL of the blob service of the account; https://<account>.blob.core.windows.net by default"),
  }).describe("A container of Azure Blob Storage"),
  parseKeys,
  toStorage({ credentials: { account }, container, path, cache_control: cacheControl = null, endpoint }, allow) {
    const verdict = checkReachableUrl(endpoint ?? `https://${account}.blob.core.windows.net`, allow);
    if (!verdict.ok) return invalid("storage_not_valid", `\`storage.endpoint\` ${verdict.error}`);
    const { origin, pathname, username, password, search, hash } = new URL(verdict.value);
    if (username || password || search || hash) {
      return invalid("storage_not_valid", "`storage.endpoint` must be a URL without user, password, query or fragment");
    }
    const base = origin + pathname.replace(/(?<!\/)\/+$/, "");
    return ok({ kind: "azure", endpoint: base, account, container, path, cacheControl });
  },
});

function parseKeys(value: Record<string, unknown>): Result<AccessKeys> {
  const keys = PAIR.parse("storage", value);
  if (!keys.ok) return keys;
  if (!ACCOUNT.test(keys.value.accessKeyId)) {
    const wanted = "must be the name of a storage account: 3 to 24 lowercase letters and digits";
    return invalid("storage_credentials_not_valid", `\`storage.credentials.account\` ${wanted}`);
  }
  if (!BASE64.test(keys.value.secretAccessKey)) {
    return invalid("storage_credentials_not_valid", "`storage.credentials.api_key` must be an access key in Base64");
  }
  return keys;
}
