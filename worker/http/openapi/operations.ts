// All public operations, in the order of the documentation.
import { ACCOUNT_OPERATIONS } from "../account/account.operations.ts";
import { NOTIFICATION_OPERATIONS } from "../account/notifications.operations.ts";
import { SESSION_OPERATIONS } from "../account/session.operations.ts";
import { ALERT_OPERATIONS } from "../alerts/alerts.operations.ts";
import { SAVED_STORAGE_OPERATIONS } from "../documents/storages.operations.ts";
import { TEMPLATE_OPERATIONS, TOKEN_OPERATIONS } from "../documents/templates.operations.ts";
import { MONITOR_OPERATIONS, NODE_OPERATIONS } from "../fleet/fleet.operations.ts";
import { HEALTH_OPERATIONS } from "../fleet/health.operations.ts";
import { INGEST_OPERATIONS } from "../ingest/ingest.operations.ts";
import { JOB_FACT_OPERATIONS, METADATA_OPERATIONS } from "../jobs/job-facts.operations.ts";
import { JOB_LIST_OPERATIONS } from "../jobs/job-lists.operations.ts";
import { JOB_OPERATIONS } from "../jobs/jobs.operations.ts";
import { PROBE_OPERATIONS } from "../jobs/probes.operations.ts";
import type { Operation } from "../operation/operation.ts";
import { ADMIN_OPERATIONS } from "../operator/admin.operations.ts";
import { DOCS_OPERATIONS } from "../pages/docs.operations.ts";
import { UPLOAD_LINK_OPERATIONS } from "../upload-links/upload-links.operations.ts";
import { STORAGE_OPERATIONS } from "../uploads/storage.operations.ts";
import { UPLOAD_OPERATIONS } from "../uploads/uploads.operations.ts";

export const OPERATIONS: readonly Operation[] = Object.values({
  ...JOB_OPERATIONS,
  ...JOB_LIST_OPERATIONS,
  ...JOB_FACT_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...INGEST_OPERATIONS,
  ...SAVED_STORAGE_OPERATIONS,
  ...PROBE_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...UPLOAD_LINK_OPERATIONS,
  ...NOTIFICATION_OPERATIONS,
  ...METADATA_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...HEALTH_OPERATIONS,
  ...DOCS_OPERATIONS,
  ...STORAGE_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...NODE_OPERATIONS,
  ...MONITOR_OPERATIONS,
  ...ALERT_OPERATIONS,
});
