// The HTTP agent for uploads, which connects to allowed addresses only.
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import { type AllowPrivate, hostAllowed } from "#shared/network/address-policy.ts";
import { guardedAgent } from "./address-guard.ts";

/**
 * Requests to other addresses fail. If the name resolves to such an address, they fail with AppError
 * `storage_address_not_allowed`. If the URL itself contains the address, they fail with `node_failed`: the control
 * plane allows the address, because it signed the URL, so another node may allow it, too. Share the agent, so that
 * uploads share connections.
 */
export const storageAgent = (allow: AllowPrivate): Agent =>
  guardedAgent({
    allow,
    refuse: (host) => {
      const problem = `The storage's host \`${host}\` is not a public address`;
      return hostAllowed(host, allow)
        ? new AppError("storage_address_not_allowed", `${problem}; use a storage that is reachable over the Internet.`)
        : new AppError("node_failed", `${problem}. The service allows it: start the node with --allow-origin, too`);
    },
  });
