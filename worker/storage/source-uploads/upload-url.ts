// Signed URLs from which nodes read uploads in the Worker's own bucket, through the Worker.
import type { SealingKeys } from "../../crypto/sealed-secret.ts";
import { signTarget, verifyTarget } from "../builtin/builtin-signature.ts";
import { isUploadId } from "./upload-id.ts";

const ROOT = "/storage/uploads/";

/** The path and query of the URL, valid until a time in ms since 1970. */
export const signUploadGet = (id: string, expiresAt: number, keys: SealingKeys): Promise<string> =>
  signTarget("GET", `${ROOT}${id}?expires=${expiresAt}`, keys);

/** The id of the upload that a URL permits to read; null if the service did not sign the URL, or if it has expired. */
export async function verifyUploadGet(url: URL, keys: SealingKeys, now: number): Promise<string | null> {
  const query = await verifyTarget("GET", url, keys);
  if (query === null || Number(query.get("expires")) <= now) return null;
  const id = url.pathname.startsWith(ROOT) ? url.pathname.slice(ROOT.length) : "";
  return isUploadId(id) ? id : null;
}
