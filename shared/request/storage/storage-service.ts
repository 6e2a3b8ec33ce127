// What the parser must know of one storage service: its fields, its credentials, and the storage that they make.
import type * as z from "zod";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { type Parsed, parseSection } from "../parse-section.ts";
import type { AccessKeys, RequestedStorage } from "./storage-spec.ts";

export type ParsedStorage = { storage: RequestedStorage; keys: AccessKeys | null };

/** One kind of the `storage` section. */
export type StorageService = {
  /** The section as clients write it. */
  readonly body: z.ZodType;
  parse(value: Record<string, unknown>, allow: AllowPrivate): Parsed<ParsedStorage>;
};

type Parts<Body> = {
  readonly body: z.ZodType<Body>;
  /** Reads the section's `credentials`, before all other fields; `noCredentials` where there are none. */
  readonly parseKeys: (body: Record<string, unknown>) => Parsed<AccessKeys | null>;
  /** What the fields mean; addresses in them are checked here. */
  readonly toStorage: (body: Body, allow: AllowPrivate) => Parsed<RequestedStorage>;
};

/** Puts a service's parts in the order in which errors are answered: credentials, fields, what they mean. */
export function storageService<Body>({ body, parseKeys, toStorage }: Parts<Body>): StorageService {
  return {
    body,
    parse(value, allow) {
      const keys = parseKeys(value);
      if (!keys.ok) return keys;
      const fields = parseSection(body, value, "storage", "storage_not_valid");
      if (!fields.ok) return fields;
      const storage = toStorage(fields.value, allow);
      return storage.ok ? { ok: true, value: { storage: storage.value, keys: keys.value } } : storage;
    },
  };
}

/** For services without credentials. */
export const noCredentials = (): Parsed<null> => ({ ok: true, value: null });
