// A storage service: its fields, its credentials, and its conversion to a storage.

import type * as z from "zod";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { ok, type Result } from "../../result.ts";
import { parseSection } from "../parse-section.ts";
import type { AccessKeys, RequestedObject, RequestedStorage } from "./storage-spec.ts";

export type ParsedStorage = { storage: RequestedStorage; keys: AccessKeys | null };

/** A kind of the `storage` section. */
export type StorageService = {
  /** The section of a request. */
  readonly body: z.ZodType;
  parse(value: Record<string, unknown>, allow: AllowPrivate): Result<ParsedStorage>;
};

type Definition<Body> = {
  readonly body: z.ZodType<Body>;
  /**
   * Parses the `credentials` of the section before all other fields. Services without credentials use `noCredentials`.
   */
  readonly parseKeys: (body: Record<string, unknown>) => Result<AccessKeys | null>;
  /** Converts the fields and checks their URLs. */
  readonly toStorage: (body: Body, allow: AllowPrivate) => Result<RequestedStorage>;
};

/** Creates a service that reports errors in this order: credentials, fields, conversion. */
export function storageService<Body>({ body, parseKeys, toStorage }: Definition<Body>): StorageService {
  return {
    body,
    parse(value, allow) {
      const keys = parseKeys(value);
      if (!keys.ok) return keys;
      const fields = parseSection(body, value, "storage", "storage_not_valid");
      if (!fields.ok) return fields;
      const storage = toStorage(fields.value, allow);
      return storage.ok ? ok({ storage: storage.value, keys: keys.value }) : storage;
    },
  };
}

/** A service in the `input` section. */
export type InputService = {
  readonly body: z.ZodObject;
  parse(
    value: Record<string, unknown>,
    allow: AllowPrivate,
  ): Result<{ object: RequestedObject; keys: AccessKeys | null }>;
};

type InputDefinition<Body> = {
  readonly body: z.ZodObject & z.ZodType<Body>;
  readonly parseKeys: (body: Record<string, unknown>) => Result<AccessKeys | null>;
  readonly toObject: (body: Body, allow: AllowPrivate) => Result<RequestedObject>;
};

/** Creates a service of inputs that reports errors in the same order. */
export const inputService = <Body>({ body, parseKeys, toObject }: InputDefinition<Body>): InputService => ({
  body,
  parse(value, allow) {
    const keys = parseKeys(value);
    if (!keys.ok) return keys;
    const fields = parseSection(body, value, "input", "input_not_valid");
    if (!fields.ok) return fields;
    const object = toObject(fields.value, allow);
    return object.ok ? ok({ object: object.value, keys: keys.value }) : object;
  },
});

/** `parseKeys` for services without credentials. */
export const noCredentials = (): Result<null> => ok(null);
