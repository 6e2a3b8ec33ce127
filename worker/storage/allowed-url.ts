// Storages' addresses are checked again when they are used: a job may be older than the operator's present setting.

import { AppError } from "#shared/errors.ts";
import { type AllowPrivate, checkUrl } from "#shared/network/address-policy.ts";

/** Lets a request go to an address that clients may name. Throws AppError(storage_address_not_allowed). */
export function requireAllowed(url: string, allow: AllowPrivate): void {
  const checked = checkUrl(url, allow);
  if (!checked.ok) throw new AppError("storage_address_not_allowed", `The storage may not be asked: ${checked.reason}`);
}
