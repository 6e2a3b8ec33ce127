// What this node itself refuses of a storage; the storage's own refusals are read by #shared/network/storage-failure.ts.
import { AppError } from "#shared/errors.ts";

/** A storage at an address that must not be reached. */
export const storageAddressRefusal = (host: string): AppError =>
  new AppError(
    "storage_address_not_allowed",
    `The storage's host \`${host}\` is not a public address; the storage must be reachable over the Internet.`,
  );
