// The service itself, and its own storage.
import * as z from "zod";
import { ANSWER_EXAMPLES, JOB_ID } from "../examples/answers.ts";
import { type Operation, type Parameter, pathParameter } from "../operation.ts";

const service = { tag: "Service", access: "anyone", codes: [] } as const;

const RANGE: Parameter = {
  in: "header",
  name: "Range",
  description: "One range of bytes",
  schema: z.string(),
  required: false,
  example: "bytes=0-1023",
};

const object = {
  path: "/storage/:job/:path",
  tag: "Storage",
  access: "anyone",
  parameters: [
    pathParameter("job", "The job's id", JOB_ID),
    pathParameter("path", "The object's name, as the output's `path` gave it; it may hold slashes", "film.mp4"),
  ],
} as const satisfies Partial<Operation>;

export const SERVICE_OPERATIONS: readonly Operation[] = [
  {
    ...service,
    method: "get",
    path: "/v2/health",
    id: "health",
    summary: "Whether the service works",
    answers: [{ status: 200, description: "It does", content: { json: "Health", example: ANSWER_EXAMPLES.Health } }],
  },
  {
    ...service,
    method: "get",
    path: "/v2/openapi.json",
    id: "openapi",
    summary: "This document",
    answers: [{ status: 200, description: "OpenAPI 3.1", content: { mediaType: "application/json" } }],
  },
  {
    ...service,
    method: "get",
    path: "/docs",
    id: "docs",
    summary: "This document for people",
    answers: [{ status: 200, description: "A page", content: { mediaType: "text/html" } }],
  },
  {
    ...object,
    method: "get",
    id: "getObject",
    summary: "Fetch an object of the service's own storage",
    description: "Outputs of jobs with the storage `coconut` lie here for 24 hours, for anyone who knows the address.",
    parameters: [...object.parameters, RANGE],
    answers: [
      { status: 200, description: "The object", content: { mediaType: "*/*" } },
      { status: 206, description: "The range of it that was asked for", content: { mediaType: "*/*" } },
      { status: 304, description: "It is as the client's copy", content: null },
    ],
    codes: ["object_not_found", "precondition_failed", "range_not_satisfiable"],
  },
  {
    ...object,
    method: "head",
    id: "headObject",
    summary: "Ask for an object's size and type",
    answers: [{ status: 200, description: "Headers alone", content: null }],
    codes: ["object_not_found"],
  },
];
