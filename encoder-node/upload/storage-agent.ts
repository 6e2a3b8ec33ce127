// The HTTP agent for uploads, which connects to allowed addresses only.
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import type { AllowPrivate } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../source/fetch/address-guard.ts";

/**
 * Requests to other addresses fail with AppError `storage_address_not_allowed`. Share one agent, so that uploads share
 * connections.
 */
export const storageAgent = (allow: AllowPrivate): Agent =>
  guardedAgent({
    allow,
    refuse: (host) =>
      new AppError(
        "storage_address_not_allowed",
        `The storage's host \`${host}\` is not a public address; use a storage that is reachable over the Internet.`,
      ),
  });
