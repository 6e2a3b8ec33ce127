// /v2/admin/alerts.
import { AlertBody, AlertList, AlertView } from "#shared/api/alerts.ts";
import { EndpointResult } from "#shared/api/notification-requests.ts";
import { RESPONSE_EXAMPLES } from "../operation/examples/responses.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";

const NAME = pathParameter("name", "The name of the alert", RESPONSE_EXAMPLES.Alert.name);
const LOST = { when: "node.lost", to: { type: "email", to: ["ops@example.com"] } };
const SLACK = { type: "slack", url: "https://hooks.slack.com/services/T0/B0/secret" };

export const ALERT_OPERATIONS = operations({
  tag: "Fleet",
  access: "operator",
  path: [NAME],
  codes: ["alert_not_found"],
})({
  listAlerts: {
    route: "GET /v2/admin/alerts",
    summary: "List alerts",
    responses: [success(200, "The alerts", AlertList)],
    codes: [],
  },
  getAlert: {
    route: "GET /v2/admin/alerts/:name",
    summary: "Read an alert",
    responses: [success(200, "The alert", AlertView)],
  },
  putAlert: {
    route: "PUT /v2/admin/alerts/:name",
    summary: "Create or replace an alert",
    description:
      "The service evaluates alerts about every two minutes. It sends a message when a condition starts to hold for a node or " +
      "a pool, and when it ends. A replaced alert forgets its state. Responses have neither the path of a URL nor a secret.",
    body: {
      json: AlertBody,
      examples: {
        lost: { summary: "E-mail about lost nodes", value: LOST },
        disk: { summary: "A full disk", value: { when: "disk.low", free_bytes: 20_000_000_000, to: SLACK } },
      },
    },
    responses: [success(200, "The alert", AlertView)],
    codes: [],
  },
  deleteAlert: {
    route: "DELETE /v2/admin/alerts/:name",
    summary: "Delete an alert",
    responses: [success(200, "The alert, as it was", AlertView)],
  },
  testAlert: {
    route: "POST /v2/admin/alerts/:name/test",
    summary: "Send a test message of an alert",
    responses: [success(200, "The response of the receiver", EndpointResult)],
  },
});
