// The `storage` section of a job request: where the results go.
import * as z from "zod";
import type { AllowPrivate } from "../../network/address-policy.ts";
import { isObject, type Parsed, refuse } from "../parse-section.ts";
import { azure } from "./azure.ts";
import { backblaze } from "./backblaze.ts";
import { builtin } from "./builtin.ts";
import { httpUpload } from "./http-upload.ts";
import { S3_SERVICES } from "./s3-services.ts";
import type { ParsedStorage, StorageService } from "./storage-service.ts";
import { unknownService } from "./unknown-service.ts";

/** All services by their name in `storage.service`. */
const SERVICES: ReadonlyMap<string, StorageService> = new Map<string, StorageService>([
  ...[...S3_SERVICES].map(([name, { storage }]) => [name, storage] as const),
  ["backblaze", backblaze],
  ["azure", azure],
  ["coconut", builtin],
]);

/** The section as clients write it. */
export const StorageBody = z.union([...[...SERVICES.values()].map(({ body }) => body), httpUpload.body]);

/** Parses the `storage` section: first its service, then the credentials, then all other fields. */
export function parseStorage(value: unknown, allow: AllowPrivate): Parsed<ParsedStorage> {
  if (value === undefined) return refuse("storage_not_valid", MISSING);
  if (!isObject(value)) return refuse("storage_not_valid", "`storage` must be an object");
  if (value.service === undefined && value.url !== undefined) return httpUpload.parse(value, allow);
  const service = typeof value.service === "string" ? SERVICES.get(value.service) : undefined;
  if (service) return service.parse(value, allow);
  return refuse("storage_service_not_valid", unknownService("storage", value.service, [...SERVICES.keys()]));
}

const MISSING =
  '`storage` is missing: where the outputs go; to try without a storage of your own, send `"storage":{"service":"coconut"}`';
