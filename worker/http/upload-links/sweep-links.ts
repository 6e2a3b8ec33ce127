// Ends expired upload links, continues interrupted steps, and deletes links that ended long ago.
import { messageOf } from "#shared/log.ts";
import type { Env } from "../../bindings.ts";
import { changeLink, deleteEnded, dueLinks, type UploadLinkRow } from "../../db/upload-links.ts";
import { partsOf } from "../../db/uploads.ts";
import { withDeadline } from "../../deadline.ts";
import { log } from "../../log.ts";
import { settingsOf } from "../../settings.ts";
import { removeUpload } from "../../storage/source-uploads/remove-uploads.ts";
import { missingParts } from "../uploads/upload-parts.ts";
import { LATER_MS, settleLink } from "./link-end.ts";
import { completeFile } from "./link-file.ts";
import { uploadOf } from "./link-view.ts";

/** Links that a sweep looks at, at most. */
const MAX_LINKS = 100;

export async function sweepLinks(env: Env, now: number): Promise<void> {
  await deleteEnded(env.DB, now - settingsOf(env).retentionMs);
  for (const link of await dueLinks(env.DB, now, MAX_LINKS)) {
    try {
      await withDeadline("sweepLink", sweepLink(env, link, now));
    } catch (error) {
      log.warn("upload link not settled", { link: link.id, error: messageOf(error) });
      await changeLink(env.DB, link, { checkAt: now + LATER_MS });
    }
  }
}

async function sweepLink(env: Env, link: UploadLinkRow, now: number): Promise<void> {
  if (link.status === "waiting" || link.status === "uploading") return await endLink(env, link, now);
  await settleLink(env, link, now);
}

/** Completes a link whose file is stored. Otherwise ends it when its time is over. */
async function endLink(env: Env, link: UploadLinkRow, now: number): Promise<void> {
  const upload = await uploadOf(env, link);
  if (upload && missingParts(await partsOf(env.DB, upload.id), upload) === null) {
    await completeFile(env, link, upload);
  } else if (now < link.expiresAt) await changeLink(env.DB, link, { checkAt: link.expiresAt });
  else {
    if (upload) await removeUpload(env, upload, now);
    const ended = { status: "expired", endedAt: now, checkAt: now + LATER_MS } as const;
    if (await changeLink(env.DB, link, ended)) await settleLink(env, { ...link, ...ended }, now);
  }
}
