// /v2/audit and /v2/admin/audit.
import { AuditList, JOB_CREATED } from "#shared/api/audit.ts";
import { operations, queryParameters, success } from "../operation/operation.ts";
import { AuditParameters } from "../query/audit-query.ts";

export const AUDIT_OPERATIONS = operations({
  parameters: queryParameters(AuditParameters),
  responses: [success(200, "A page of the audit", AuditList)],
})({
  listAudit: {
    route: "GET /v2/audit",
    tag: "Account",
    access: "unscoped-key",
    summary: "List changes",
    description:
      "Who changed what in the account, when and from where. Requests with an error of the client changed nothing, and have " +
      `no entry. Created jobs are listed with \`action=${JOB_CREATED}\`, and with \`object=jobs/ID\`; such a page may be short.`,
  },
  listAllAudit: {
    route: "GET /v2/admin/audit",
    tag: "Administration",
    access: "operator",
    summary: "List changes in all accounts",
    description:
      "Also changes of the service itself: accounts, node tokens, nodes, alerts. For the jobs that an account created, read " +
      "`GET /v2/audit` with the header `Copra-Account`.",
  },
});
