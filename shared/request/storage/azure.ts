// Containers of Azure Blob Storage and of what speaks its protocol.
import * as z from "zod";
import { checkUrl } from "../../network/address-policy.ts";
import { strictObject } from "../../strict-object.ts";
import { type Parsed, refuse, text } from "../parse-section.ts";
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
        account: z.string().describe("The storage account's name"),
        api_key: z.string().describe("One of the account's two access keys, in Base64"),
      })
      .describe("Sealed at once, never shown again, never given to encoder nodes"),
    container: text(63, ": the container's name")
      .regex(CONTAINER, "must be the name of a container: 3 to 63 lower-case letters, digits, single hyphens")
      .describe("The container, which must exist"),
    path: folder,
    cache_control: headerValue.optional().describe("The Cache-Control header that blobs are served with"),
    endpoint: text(1024)
      .optional()
      .describe("The address of the account's blob service; https://<account>.blob.core.windows.net unless given"),
  }).describe("A container of Azure Blob Storage"),
  parseKeys,
  toStorage({ credentials: { account }, container, path, cache_control: cacheControl = null, endpoint }, allow) {
    const verdict = checkUrl(endpoint ?? `https://${account}.blob.core.windows.net`, allow);
    if (!verdict.ok) return refuse("storage_not_valid", `\`storage.endpoint\`: ${verdict.reason}`);
    const { origin, pathname, username, password, search, hash } = new URL(verdict.url);
    if (username || password || search || hash) {
      const wanted = "must be an address without user, password, query or fragment";
      return refuse("storage_not_valid", `\`storage.endpoint\`: ${wanted}`);
    }
    const base = origin + pathname.replace(/\/+$/, "");
    return { ok: true, value: { kind: "azure", endpoint: base, account, container, path, cacheControl } };
  },
});

function parseKeys(value: Record<string, unknown>): Parsed<AccessKeys> {
  const keys = PAIR.parse("storage", value);
  if (!keys.ok) return keys;
  if (!ACCOUNT.test(keys.value.accessKeyId)) {
    const wanted = "must be the name of a storage account: 3 to 24 lower-case letters and digits";
    return refuse("storage_credentials_not_valid", `\`storage.credentials.account\` ${wanted}`);
  }
  if (!BASE64.test(keys.value.secretAccessKey)) {
    return refuse("storage_credentials_not_valid", "`storage.credentials.api_key` must be an access key in Base64");
  }
  return keys;
}
