// Credentials: an id and a secret, under the names of each service.
import * as z from "zod";
import type { ErrorCode } from "../../errors.ts";
import { excerpt } from "../../excerpt.ts";
import { ok, type Result } from "../../result.ts";
import { invalid, isObject } from "../parse-section.ts";
import type { AccessKeys } from "./storage-spec.ts";

/** The schema and the parser of a pair of keys. */
export type CredentialPair = {
  readonly body: z.ZodObject;
  /** Reads the pair from the `credentials` of a section. */
  parse(section: Section, body: Record<string, unknown>): Result<AccessKeys>;
};

type Section = "storage" | "input";
const CODES: Record<Section, ErrorCode> = { storage: "storage_credentials_not_valid", input: "input_not_valid" };

/** Ids become part of headers and URLs. Secrets become part of signatures only. */
const ID = /^[\x21-\x7e]{1,256}$/;
const SECRET = /^\P{Cc}{1,1024}$/u;
/** Tokens become part of headers and URLs. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

const isNotBlank = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** Defines a pair by the names of the id and the secret; `tokenName` names the optional token of temporary keys. */
export function credentialPair(idName: string, secretName: string, tokenName: string | null = null): CredentialPair {
  const names = [idName, secretName, ...(tokenName ? [tokenName] : [])];
  return {
    body: z
      .object({
        [idName]: z.string().describe("The id of the key"),
        [secretName]: z.string().describe("The secret of the key"),
        ...(tokenName ? { [tokenName]: z.string().optional().describe("The session token of temporary keys") } : {}),
      })
      .describe("Encrypted on arrival, never returned, never sent to encoder nodes"),
    parse(section, body) {
      const wrong = (message: string) => invalid(CODES[section], message);
      const { credentials } = body;
      const fields = isObject(credentials) ? credentials : {};
      const { [idName]: accessKeyId, [secretName]: secretAccessKey, [tokenName ?? ""]: sessionToken } = fields;
      if (!isNotBlank(accessKeyId) || !isNotBlank(secretAccessKey)) {
        const rule = `\`${idName}\` and \`${secretName}\` must both be defined in \`${section}.credentials\``;
        const misplaced = misplacedCredentials(section, body, names);
        return wrong(`The ${section} credentials are not correct: ${rule}${misplaced}`);
      }
      const field = `${section}.credentials`;
      if (!ID.test(accessKeyId)) return wrong(`\`${field}.${idName}\` must have 1 to 256 visible ASCII characters`);
      if (!SECRET.test(secretAccessKey)) {
        return wrong(
          `\`${field}.${secretName}\` must have 1 to 1024 characters, without line breaks or other control characters`,
        );
      }
      if (tokenName === null && Object.hasOwn(fields, "session_token")) {
        return wrong(`\`${field}.session_token\` is not allowed: the service has no session tokens`);
      }
      if (tokenName === null || sessionToken === undefined) return ok({ accessKeyId, secretAccessKey });
      if (typeof sessionToken !== "string" || !TOKEN.test(sessionToken)) {
        return wrong(`\`${field}.${tokenName}\` must have 1 to 4096 visible ASCII characters`);
      }
      return ok({ accessKeyId, secretAccessKey, sessionToken });
    },
  };
}

/** Keys of S3-compatible services. */
export const ACCESS_KEYS = credentialPair("access_key_id", "secret_access_key", "session_token");
/** HMAC keys of Google Cloud Storage, which have no session token. */
export const HMAC_KEYS = credentialPair("access_key_id", "secret_access_key");

// Finds credentials in the wrong place or with wrong names. Errors repeat their names, never their values.

/** Names that cloud providers and tools use for credentials. */
const KEY_NAME =
  /^(?:aws|azure|gcs|do|app|api|account|access|secret|storage|key|credential|user|password|token|hmac|b2)/i;

/** Returns the part of the error message about misplaced credentials; empty if there are none. */
function misplacedCredentials(
  section: string,
  body: Readonly<Record<string, unknown>>,
  wanted: readonly string[],
): string {
  const field = `${section}.credentials`;
  const both = wanted.slice(0, 2).map(quoted).join(", ");
  const { credentials } = body;
  if (credentials !== undefined && !isObject(credentials)) return `; \`${field}\` must be an object`;
  const misnamed = isObject(credentials) ? Object.keys(credentials).filter((name) => !wanted.includes(name)) : [];
  if (misnamed.length > 0) return `; it has ${listed(misnamed)}; use the names ${both}`;
  if (isObject(credentials)) return "";
  const misplaced = Object.keys(body).filter((name) => wanted.includes(name) || KEY_NAME.test(name));
  if (misplaced.length === 0) return "";
  return `; move ${listed(misplaced)} from \`${section}\` to \`${field}\`, with the names ${both}`;
}

const quoted = (name: string): string => `\`${excerpt(name)}\``;
const listed = (names: readonly string[]): string => names.slice(0, 4).map(quoted).join(", ");
