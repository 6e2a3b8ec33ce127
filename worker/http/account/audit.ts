// Pages of the audit.
import type { Context } from "hono";
import type { AuditList } from "#shared/api/audit.ts";
import { contractDate } from "#shared/job/job-view.ts";
import { listEntries } from "../../db/audit.ts";
import { AuditParameters, readPage } from "../query/upload-query.ts";
import { jsonResponse } from "../responses/json-response.ts";

/** `account` null: the changes in all accounts and of the service. */
export async function auditPage(context: Context, account: string | null): Promise<Response> {
  const { page, next_cursor } = await readPage(AuditParameters, context.req.query(), (wanted) =>
    listEntries(context.env.DB, account, wanted),
  );
  // Clients do not learn the operator's address.
  const isClient = typeof context.get("key")?.keyId === "string";
  const entries = page.map(({ createdAt, ...entry }) => {
    const ip = isClient && entry.actor === "operator" ? null : entry.ip;
    return { ...entry, ip, created_at: contractDate(createdAt) };
  });
  return jsonResponse(context, { entries, next_cursor } satisfies AuditList);
}
