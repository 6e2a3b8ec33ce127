// Prints storages and sources as in a request: the inverse of parsing, without credentials.

import { assertNever } from "../errors.ts";
import { publicUrl } from "../job/metadata.ts";
import type { InputSpec } from "./input-section.ts";
import { S3_SERVICES } from "./storage/s3-services.ts";
import type { AzureContainer, ObjectOptions, S3Bucket, StorageSpec } from "./storage/storage-spec.ts";

type Section = Record<string, unknown>;

export function printInput(input: InputSpec): Section {
  switch (input.kind) {
    case "url":
      return { url: publicUrl(input.url) };
    case "bucket": {
      const { key } = input;
      return { ...printBucket(input, {}), key };
    }
    case "azure":
      return { ...printContainer(input), key: input.key };
    case "folder":
      return { service: "folder", folder: input.folder, path: input.key };
    case "upload":
      return { upload: input.id };
    default:
      return assertNever(input);
  }
}

export function printStorage(storage: StorageSpec): Section {
  switch (storage.kind) {
    case "s3": {
      const { options, path, secure } = storage;
      const rest = { ...pathOf(path), ...(secure ? {} : { secure }), ...printOptions(options) };
      return { ...printBucket(storage, rest), ...rest };
    }
    case "azure": {
      const { path, cacheControl } = storage;
      const cache = cacheControl === null ? {} : { cache_control: cacheControl };
      return { ...printContainer(storage), ...pathOf(path), ...cache };
    }
    case "builtin":
      return { service: "coconut", ...pathOf(storage.path) };
    case "folder":
      return { service: "folder", folder: storage.folder, ...pathOf(storage.path) };
    case "http":
      return { url: publicUrl(storage.url) };
    default:
      return assertNever(storage);
  }
}

function printContainer({ account, endpoint, container }: AzureContainer): Section {
  const isOwn = endpoint === `https://${account}.blob.core.windows.net`;
  return { service: "azure", container, ...(isOwn ? {} : { endpoint }) };
}

const pathOf = (path: string): Section => (path === "" ? {} : { path });

const printOptions = ({ acl, storageClass, cacheControl, expires }: ObjectOptions): Section => ({
  ...(acl === null ? {} : { acl }),
  ...(storageClass === null ? {} : { storage_class: storageClass }),
  ...(cacheControl === null ? {} : { cache_control: cacheControl }),
  ...(expires === null ? {} : { expires }),
});

/** Placeholder credentials: the parsers check fields only with valid credentials. */
const CREDENTIALS = { access_key_id: "id", secret_access_key: "secret" };

/**
 * Returns the service and the location of a bucket. Of all matching services, chooses the section with the fewest
 * fields.
 */
function printBucket(bucket: S3Bucket, options: Section): Section {
  const candidates = candidatesFor(bucket);
  return candidates.find((candidate) => means(candidate, options, bucket)) ?? candidates.at(-1) ?? {};
}

const R2 = /^https:\/\/([0-9a-f]{32})\.r2\.cloudflarestorage\.com$/i;

function candidatesFor({ endpoint, region, bucket, addressing }: S3Bucket): Section[] {
  const regional = [...S3_SERVICES.keys()].map((service) => ({ service, bucket, region }));
  const [, account_id] = R2.exec(endpoint) ?? [];
  const style = addressing === "path" ? { force_path_style: true } : {};
  return [
    ...regional,
    ...(account_id === undefined ? [] : [{ service: "r2", bucket, account_id }]),
    { service: "s3other", bucket, region, endpoint, ...style },
  ];
}

/** True if a section describes this bucket. */
function means(section: Section, options: Section, bucket: S3Bucket): boolean {
  const full = { ...section, ...options, credentials: CREDENTIALS };
  const parsed = S3_SERVICES.get(String(section.service))?.storage.parse(full, "all");
  if (!parsed?.ok || parsed.value.storage.kind !== "s3") return false;
  const { storage } = parsed.value;
  return (["endpoint", "region", "bucket", "addressing"] as const).every((field) => storage[field] === bucket[field]);
}
