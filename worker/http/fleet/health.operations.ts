// /v2/health.
import { Health, Ready } from "#shared/api/job-responses.ts";
import { operations, success } from "../operation/operation.ts";

export const HEALTH_OPERATIONS = operations({ tag: "Service", access: "anyone" })({
  health: {
    route: "GET /v2/health",
    summary: "Check the health of the service",
    responses: [success(200, "The service is healthy", Health)],
  },
  ready: {
    route: "GET /v2/health/ready",
    summary: "Check whether the service can do its work",
    description:
      "503 while the settings are not valid, the database does not answer or lacks a migration, or a hub does not " +
      "answer; `message` names each reason. Made for load balancers and monitors.",
    responses: [success(200, "Settings, database and hubs are in order", Ready)],
  },
});
