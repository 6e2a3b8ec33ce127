// Signed URLs from which nodes read uploads in the Worker's own bucket, through the Worker.
import type { SealingKeys } from "../../crypto/sealed-secret.ts";
import { signTarget, verifyTarget } from "../builtin/builtin-signature.ts";
import { isUploadId } from "./upload-id.ts";

const ROOT = "/storage/uploads/";

type NamedUpload = { readonly id: string; readonly name: string };

/**
 * The path and query of the URL, valid until a time in ms since 1970. The path ends with the name of the file, which
 * views of jobs and browsers show. URLs cannot have a segment of dots.
 */
export const signUploadGet = ({ id, name }: NamedUpload, expiresAt: number, keys: SealingKeys): Promise<string> =>
  signTarget("GET", `${ROOT}${id}/${encodeURIComponent(name).replace(/^\.+$/, "upload")}?expires=${expiresAt}`, keys);

/** The id of the upload that a URL permits to read; null if the service did not sign the URL, or if it has expired. */
export async function verifyUploadGet(url: URL, keys: SealingKeys, now: number): Promise<string | null> {
  const query = await verifyTarget("GET", url, keys);
  if (query === null || Number(query.get("expires")) <= now) return null;
  const [id = ""] = url.pathname.startsWith(ROOT) ? url.pathname.slice(ROOT.length).split("/") : [];
  return isUploadId(id) ? id : null;
}
