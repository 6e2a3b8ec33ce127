// The API, with the session's cookie as credential.
import { CopraAdmin } from "../../client/admin.ts";
import { Copra } from "../../client/index.ts";

const url = globalThis.location?.origin ?? "http://localhost";

/** The calls of the signed-in account. */
export const copra = new Copra({ url, retries: 2 });

/** The calls of the operator; only for sessions with the admin token. */
export const admin = new CopraAdmin({ url, retries: 2 });
