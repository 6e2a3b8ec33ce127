// The HTTP agent for uploads, which connects to allowed addresses only.
import type { Agent } from "undici";
import { AppError } from "#shared/errors.ts";
import { type AllowPrivate, hostAllowed } from "#shared/network/address-policy.ts";
import { guardedAgent } from "../source/fetch/address-guard.ts";

/**
 * Requests to other addresses fail: with AppError `storage_address_not_allowed` if the name leads to such an address,
 * and with `node_failed` if the URL itself names it, because the control plane allows what it has signed: another node
 * may, too. Share one agent, so that uploads share connections.
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
