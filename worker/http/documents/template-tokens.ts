// /v2/templates/:name/tokens: tokens of URLs that receive events of buckets.

import type { Context } from "hono";
import type { Revoked } from "#shared/api/operator-responses.ts";
import type { NewToken, TokenList } from "#shared/api/templates.ts";
import { AppError } from "#shared/errors.ts";
import { newToken } from "#shared/ids.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { randomBytes } from "../../crypto/bytes.ts";
import { deleteToken, insertToken, listTokens, MAX_TOKENS, type TokenRow, tokenId } from "../../db/ingest-tokens.ts";
import { publicOrigin } from "../../settings.ts";
import type { ClientEnv } from "../auth/auth.ts";
import { tokenDigest } from "../ingest/ingest-events.ts";
import { findOwnTemplate } from "../jobs/create/job-template.ts";
import { creatorOf } from "../jobs/create/new-job.ts";
import { mount } from "../operation/mount.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { TOKEN_OPERATIONS } from "./templates.operations.ts";

export const templateTokens = mount(TOKEN_OPERATIONS, {
  listIngestTokens: async (context) => {
    const rows = await listTokens(context.env.DB, context.get("account").id, await ownName(context));
    return jsonResponse(context, { tokens: rows.map(viewToken) } satisfies TokenList);
  },
  createIngestToken: async (context) => {
    const template = await ownName(context);
    const token = newToken(randomBytes);
    const accountId = context.get("account").id;
    const digest = await tokenDigest(token);
    const row = { digest, accountId, template, createdAt: Date.now(), ...context.get("key") };
    if (!(await insertToken(context.env.DB, row))) {
      throw new AppError("too_many_tokens", `A template may have ${MAX_TOKENS} tokens; delete some`);
    }
    const url = `${publicOrigin(context.env, context.req.url)}/v2/ingest/${template}/${token}`;
    return jsonResponse(context, { ...viewToken(row), url } satisfies NewToken, 201);
  },
  deleteIngestToken: async (context) => {
    const id = context.req.param("id");
    const template = context.req.param("name");
    if (await deleteToken(context.env.DB, context.get("account").id, template, id)) {
      return jsonResponse(context, { id, revoked: true } satisfies Revoked);
    }
    throw new AppError("credential_not_found", "The template has no token with this id");
  },
});

/** The name of the template of the path. Throws AppError(template_not_found). */
const ownName = async (context: Context<ClientEnv, "/:name/tokens">): Promise<string> =>
  (await findOwnTemplate(creatorOf(context), context.req.param("name"))).name;

const viewToken = (row: TokenRow) => ({
  id: tokenId(row),
  created_at: contractDate(row.createdAt),
  expires_at: row.expiresAt === null ? null : contractDate(row.expiresAt),
});
