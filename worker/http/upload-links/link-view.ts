// Upload links as clients see them.
import * as z from "zod";
import { UploadLink, type UploadPayload } from "#shared/api/upload-links.ts";
import { Tags } from "#shared/job/tags.ts";
import type { Env } from "../../bindings.ts";
import { linkToken } from "../../crypto/link-token.ts";
import type { UploadLinkRow } from "../../db/upload-links.ts";
import { findUpload, type UploadRow } from "../../db/uploads.ts";
import { settingsOf } from "../../settings.ts";
import { viewSummary } from "../uploads/upload-parts.ts";
import { originsOf } from "./link-guard.ts";

const instant = (time: number): string => new Date(time).toISOString();
const JobError = z.string().transform((text) => UploadLink.shape.job_error.parse(JSON.parse(text)));

/** The upload of the link; null before it starts and after it is removed. */
export const uploadOf = async (env: Env, { accountId, uploadId }: UploadLinkRow): Promise<UploadRow | null> =>
  uploadId === null ? null : await findUpload(env.DB, accountId, uploadId, Date.now());

export function viewData(link: UploadLinkRow, upload: UploadRow | null): UploadPayload["data"] {
  const { id, status, name, maxBytes, refusedOrigin, jobId, jobError, createdAt, expiresAt, endedAt } = link;
  return {
    id,
    // The sweeper stores this status up to some minutes later.
    status: (status === "waiting" || status === "uploading") && isOver(link) ? "expired" : status,
    name,
    ...(tagsOf(link) ?? {}),
    max_size: maxBytes,
    origins: originsOf(link),
    last_refused_origin: refusedOrigin,
    upload: upload && viewSummary(upload),
    job: jobId,
    job_error: jobError === null ? null : JobError.parse(jobError),
    created_at: instant(createdAt),
    expires_at: instant(expiresAt),
    ended_at: endedAt === null ? null : instant(endedAt),
  };
}

/** The link's tags; null: none. */
export const tagsOf = ({ tags }: UploadLinkRow): { tags: Tags } | null =>
  tags === null ? null : { tags: Tags.parse(JSON.parse(tags)) };

/** True if the link has expired, unless its file is complete. */
export const isOver = ({ expiresAt }: UploadLinkRow): boolean => expiresAt <= Date.now();

export async function viewLink(env: Env, link: UploadLinkRow): Promise<UploadLink> {
  const url = urlOf(env, link);
  return { ...viewData(link, await uploadOf(env, link)), url, tus_url: `${url}/tus` };
}

export const urlOf = (env: Env, { id, origin }: UploadLinkRow): string =>
  `${origin}/v2/links/${linkToken(id, settingsOf(env).sealingKeys)}`;
