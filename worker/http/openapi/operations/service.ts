// The service itself, and the built-in storage.
import * as z from "zod";
import { JOB_ID } from "../examples/responses.ts";
import { type Operation, type Parameter, pathParameter, success } from "../operation.ts";

const service = { tag: "Service", access: "anyone", codes: [] } as const;

const RANGE: Parameter = {
  in: "header",
  name: "Range",
  description: "A single byte range",
  schema: z.string(),
  required: false,
  example: "bytes=0-1023",
};

const object = {
  path: "/storage/:job/:path",
  tag: "Storage",
  access: "anyone",
  parameters: [
    pathParameter("job", "The id of the job", JOB_ID),
    pathParameter(
      "path",
      "The name of the object, as in the `path` of the output; it may contain slashes",
      "video.mp4",
    ),
  ],
} as const satisfies Partial<Operation>;

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...service,
    method: "get",
    path: "/v2/health",
    id: "health",
    summary: "Check the health of the service",
    responses: [success(200, "The service is healthy", "Health")],
  },
  {
    ...service,
    method: "get",
    path: "/v2/health/ready",
    id: "ready",
    summary: "Check whether the service can do its work",
    description:
      "503 while the settings are not valid, the database does not answer or lacks a migration, or a hub does not " +
      "answer; `message` names each reason. Made for load balancers and monitors.",
    responses: [success(200, "Settings, database and hubs are in order", "Ready")],
  },
  {
    ...service,
    method: "get",
    path: "/v2/openapi.json",
    id: "openapi",
    summary: "This document",
    responses: [{ status: 200, description: "OpenAPI 3.1", content: { mediaType: "application/json" } }],
  },
  {
    ...service,
    method: "get",
    path: "/docs",
    id: "docs",
    summary: "The documentation",
    responses: [{ status: 200, description: "An HTML page", content: { mediaType: "text/html" } }],
  },
  {
    ...object,
    method: "get",
    id: "getObject",
    summary: "Read an object of the built-in storage",
    description:
      "Outputs of jobs with the storage `coconut` are available here for 24 hours to anyone who knows the URL.",
    parameters: [...object.parameters, RANGE],
    responses: [
      { status: 200, description: "The object", content: { mediaType: "*/*" } },
      { status: 206, description: "The requested range", content: { mediaType: "*/*" } },
      { status: 304, description: "The copy of the client is current", content: null },
    ],
    codes: ["object_not_found", "precondition_failed", "range_not_satisfiable"],
  },
  {
    ...object,
    method: "head",
    id: "headObject",
    summary: "Read the size and type of an object",
    responses: [{ status: 200, description: "Headers only", content: null }],
    codes: ["object_not_found"],
  },
];
