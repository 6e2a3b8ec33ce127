// Lists the audit.
import type { Context } from "hono";
import type { AuditList } from "#shared/api/audit.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { listEntries } from "../../db/audit.ts";
import { mount } from "../operation/mount.ts";
import { AuditParameters } from "../query/audit-query.ts";
import { parseQuery } from "../query/parse-query.ts";
import { readPage, type Wanted } from "../query/upload-query.ts";
import { jsonResponse } from "../responses/json-response.ts";
import { AUDIT_OPERATIONS } from "./audit.operations.ts";

export const audit = mount(AUDIT_OPERATIONS, {
  listAudit: (context) => listPage(context, context.env.DB, context.get("account").id),
  listAllAudit: (context) => listPage(context, context.env.DB, null),
});

/** `account` null: the changes in all accounts and of the service. */
async function listPage(context: Context, db: D1Database, account: string | null): Promise<Response> {
  const { limit, cursor, ...filter } = parseQuery(AuditParameters, context.req.query());
  const read = (place: Wanted) => listEntries(db, account, { ...filter, ...place });
  const { page, next_cursor } = await readPage({ limit, cursor }, read);
  const entries = page.flatMap(({ createdAt, accountId, actorName, ...entry }) =>
    filter.actor === undefined || filter.actor === entry.actor
      ? [{ ...entry, created_at: contractDate(createdAt), account: accountId || null, actor_name: actorName }]
      : [],
  );
  return jsonResponse(context, { entries, next_cursor } satisfies AuditList);
}
