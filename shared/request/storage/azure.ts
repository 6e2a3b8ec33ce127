// Containers of Azure Blob Storage and compatible services.

import * as z from "zod";
import { checkReachableUrl, checkUrl } from "../../network/address-policy.ts";
import { err, ok, type Result } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { invalid, text } from "../parse-section.ts";
import { credentialPair } from "./credentials.ts";
import { folder, headerValue, objectKey } from "./folder.ts";
import { inputService, storageService } from "./storage-service.ts";
import type { AccessKeys, AzureContainer } from "./storage-spec.ts";

const PAIR = credentialPair("account", "api_key");
/** Naming rules of Azure: storage account overview; Naming and Referencing Containers. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;
const CONTAINER = /^(?:\$web|(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9])$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const place = {
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
  endpoint: text(1024)
    .optional()
    .describe("The URL of the blob service of the account; https://<account>.blob.core.windows.net by default"),
};

export const azure = storageService({
  body: strictObject({
    ...place,
    path: folder,
    cache_control: headerValue.optional().describe("The Cache-Control header that blobs are served with"),
  }).describe("A container of Azure Blob Storage"),
  parseKeys: parseKeys("storage"),
  toStorage({ path, cache_control: cacheControl = null, ...fields }, allow) {
    const at = containerAt(fields, (url) => checkReachableUrl(url, allow));
    if (!at.ok) return invalid("storage_not_valid", `\`storage.endpoint\` ${at.error}`);
    return ok({ kind: "azure", ...at.value, path, cacheControl });
  },
});

export const azureInput = inputService({
  body: strictObject({ ...place, key: objectKey }).describe("A blob in a container of Azure Blob Storage"),
  parseKeys: parseKeys("input"),
  toObject({ key, ...fields }, allow) {
    const at = containerAt(fields, (url) => checkUrl(url, allow));
    if (!at.ok) return invalid("input_not_valid", `\`input.endpoint\` ${at.error}`);
    return ok({ kind: "azure", ...at.value, key });
  },
});

type Place = { container: string; credentials: { account: string }; endpoint?: string | undefined };

/** Returns a container at a checked URL. */
function containerAt(
  { container, credentials: { account }, endpoint }: Place,
  check: (url: string) => Result<string, string>,
): Result<AzureContainer, string> {
  const verdict = check(endpoint ?? `https://${account}.blob.core.windows.net`);
  if (!verdict.ok) return verdict;
  const { origin, pathname, username, password, search, hash } = new URL(verdict.value);
  if (username || password || search || hash) {
    return err("must be a URL without user, password, query or fragment");
  }
  return ok({ endpoint: origin + pathname.replace(/(?<!\/)\/+$/, ""), account, container });
}

function parseKeys(section: "storage" | "input"): (value: Record<string, unknown>) => Result<AccessKeys> {
  const code = section === "storage" ? "storage_credentials_not_valid" : "input_not_valid";
  return (value) => {
    const keys = PAIR.parse(section, value);
    if (!keys.ok) return keys;
    if (!ACCOUNT.test(keys.value.accessKeyId)) {
      const wanted = "must be the name of a storage account: 3 to 24 lowercase letters and digits";
      return invalid(code, `\`${section}.credentials.account\` ${wanted}`);
    }
    if (!BASE64.test(keys.value.secretAccessKey)) {
      return invalid(code, `\`${section}.credentials.api_key\` must be an access key in Base64`);
    }
    return keys;
  };
}
