// The two halves of a credential, whatever a service calls them.
import * as z from "zod";
import type { ErrorCode } from "../../errors.ts";
import { isObject, type Parsed, refuse } from "../parse-section.ts";
import { strayCredentials } from "./misplaced-credentials.ts";
import type { AccessKeys } from "./storage-spec.ts";

/** A pair of keys in a request: what clients write, and its parser. */
export type CredentialPair = {
  readonly body: z.ZodObject;
  /** Reads the pair from the `credentials` of a section. */
  parse(section: Section, body: Record<string, unknown>): Parsed<AccessKeys>;
};

type Section = "storage" | "input";
const CODES: Record<Section, ErrorCode> = { storage: "storage_credentials_not_valid", input: "input_not_valid" };

/** Ids become part of headers and addresses; secrets only of signatures. */
const ID = /^[\x21-\x7e]{1,256}$/;
const SECRET = /^\P{Cc}{1,1024}$/u;

const saysSomething = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** Defines a pair by its two names, the one that may be seen first. */
export function credentialPair(idName: string, secretName: string): CredentialPair {
  return {
    body: z
      .object({
        [idName]: z.string().describe("Names the key"),
        [secretName]: z.string().describe("The key's secret"),
      })
      .describe("Sealed at once, never shown again, never given to encoder nodes"),
    parse(section, body) {
      const wrong = (message: string) => refuse(CODES[section], message);
      const { credentials } = body;
      const { [idName]: accessKeyId, [secretName]: secretAccessKey } = isObject(credentials) ? credentials : {};
      if (!saysSomething(accessKeyId) || !saysSomething(secretAccessKey)) {
        const rule = `\`${idName}\` and \`${secretName}\` must both be defined in \`${section}.credentials\``;
        const found = strayCredentials(section, body, [idName, secretName]);
        return wrong(`The ${section} credentials are not correct: ${rule}${found}`);
      }
      const field = `${section}.credentials`;
      if (!ID.test(accessKeyId)) return wrong(`\`${field}.${idName}\`: 1 to 256 visible ASCII characters`);
      if (!SECRET.test(secretAccessKey)) {
        return wrong(`\`${field}.${secretName}\`: 1 to 1024 characters, no line breaks or other control characters`);
      }
      return { ok: true, value: { accessKeyId, secretAccessKey } };
    },
  };
}

export const ACCESS_KEYS = credentialPair("access_key_id", "secret_access_key");
