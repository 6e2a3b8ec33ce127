// All public operations, in the order of the documentation.
import type { Operation } from "./operation.ts";
import { ACCOUNT_OPERATIONS } from "./operations/account.ts";
import { ADMIN_OPERATIONS } from "./operations/admin.ts";
import { ALERT_OPERATIONS } from "./operations/alerts.ts";
import { FLEET_OPERATIONS } from "./operations/fleet.ts";
import { JOB_FACT_OPERATIONS, METADATA_OPERATIONS } from "./operations/job-facts.ts";
import { JOB_LIST_OPERATIONS } from "./operations/job-lists.ts";
import { JOB_OPERATIONS } from "./operations/jobs.ts";
import { NOTIFICATION_OPERATIONS } from "./operations/notifications.ts";
import { PROBE_OPERATIONS } from "./operations/probes.ts";
import { SERVICE_OPERATIONS } from "./operations/service.ts";
import { SESSION_OPERATIONS } from "./operations/session.ts";
import { STORAGE_OPERATIONS } from "./operations/storages.ts";
import { TEMPLATE_OPERATIONS } from "./operations/templates.ts";
import { UPLOAD_LINK_OPERATIONS } from "./operations/upload-links.ts";
import { UPLOAD_OPERATIONS } from "./operations/uploads.ts";

export const OPERATIONS: readonly Operation[] = [
  ...JOB_OPERATIONS,
  ...JOB_LIST_OPERATIONS,
  ...JOB_FACT_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...STORAGE_OPERATIONS,
  ...PROBE_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...UPLOAD_LINK_OPERATIONS,
  ...NOTIFICATION_OPERATIONS,
  ...METADATA_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...SERVICE_OPERATIONS,
  ...ADMIN_OPERATIONS,
  ...FLEET_OPERATIONS,
  ...ALERT_OPERATIONS,
];
