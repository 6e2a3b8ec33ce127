// /v2/admin/alerts.
import type { ResponseName } from "../components.ts";
import { RESPONSE_EXAMPLES } from "../examples/responses.ts";
import { type Operation, pathParameter, success } from "../operation.ts";

const PATH = "/v2/admin/alerts/:name";

const operation = (json: ResponseName, description: string) =>
  ({
    tag: "Fleet",
    access: "operator",
    responses: [success(200, description, json)],
    codes: [],
  }) as const;
const named = (json: ResponseName, description: string) =>
  ({
    ...operation(json, description),
    parameters: [pathParameter("name", "The name of the alert", RESPONSE_EXAMPLES.Alert.name)],
    codes: ["alert_not_found"],
  }) as const;

const LOST = { when: "node.lost", to: { type: "email", to: ["ops@example.com"] } };
const SLACK = { type: "slack", url: "https://hooks.slack.com/services/T0/B0/secret" };

export const ALERT_OPERATIONS: readonly Operation[] = [
  {
    ...operation("AlertList", "The alerts"),
    method: "get",
    path: "/v2/admin/alerts",
    id: "listAlerts",
    summary: "List alerts",
  },
  { ...named("Alert", "The alert"), method: "get", path: PATH, id: "getAlert", summary: "Read an alert" },
  {
    ...named("Alert", "The alert"),
    method: "put",
    path: PATH,
    id: "putAlert",
    summary: "Create or replace an alert",
    description:
      "The service evaluates alerts about every two minutes. It sends a message when a condition starts to hold for a node or " +
      "a pool, and when it ends. A replaced alert forgets its state. Responses have neither the path of a URL nor a secret.",
    body: {
      json: "NewAlert",
      examples: {
        lost: { summary: "E-mail about lost nodes", value: LOST },
        disk: { summary: "A full disk", value: { when: "disk.low", free_bytes: 20_000_000_000, to: SLACK } },
      },
    },
    codes: ["json_not_valid", "request_not_valid", "body_too_large"],
  },
  {
    ...named("Alert", "The alert, as it was"),
    method: "delete",
    path: PATH,
    id: "deleteAlert",
    summary: "Delete an alert",
  },
  {
    ...named("EndpointResult", "The response of the receiver"),
    method: "post",
    path: `${PATH}/test`,
    id: "testAlert",
    summary: "Send a test message of an alert",
  },
];
