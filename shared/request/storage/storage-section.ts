// The `storage` section of a job request: the storage for the outputs.

import * as z from "zod";
import type { AllowPrivate } from "../../network/address-policy.ts";
import type { Result } from "../../result.ts";
import { invalid, isObject } from "../parse-section.ts";
import { azure } from "./azure.ts";
import { backblaze } from "./backblaze.ts";
import { builtin } from "./builtin.ts";
import { httpUpload } from "./http-upload.ts";
import { nodeFolder } from "./node-folder.ts";
import { S3_SERVICES } from "./s3-services.ts";
import type { ParsedStorage, StorageService } from "./storage-service.ts";
import { unknownService } from "./unknown-service.ts";

/** All services by their names in `storage.service`. */
const SERVICES: ReadonlyMap<string, StorageService> = new Map<string, StorageService>([
  ...[...S3_SERVICES].map(([name, { storage }]) => [name, storage] as const),
  ["backblaze", backblaze],
  ["azure", azure],
  ["coconut", builtin],
  ["folder", nodeFolder],
]);

/** The section of a request. */
export const StorageBody = z.union([...[...SERVICES.values()].map(({ body }) => body), httpUpload.body]);

/** Parses the `storage` section: first the service, then the credentials, then all other fields. */
export function parseStorage(value: unknown, allow: AllowPrivate): Result<ParsedStorage> {
  if (value === undefined) return invalid("storage_not_valid", MISSING);
  if (!isObject(value)) return invalid("storage_not_valid", "`storage` must be an object");
  if (value.service === undefined && value.url !== undefined) return httpUpload.parse(value, allow);
  const service = typeof value.service === "string" ? SERVICES.get(value.service) : undefined;
  if (service) return service.parse(value, allow);
  return invalid("storage_service_not_valid", unknownService("storage", value.service, [...SERVICES.keys()]));
}

const MISSING =
  '`storage` is missing; it must be an object that describes where to store the outputs; for a test, use `"storage":{"service":"coconut"}`';
