// /storage: the objects of the built-in storage.
import { JOB_ID } from "../operation/examples/responses.ts";
import { headerParameter, operations, pathParameter } from "../operation/operation.ts";

const OBJECT = [
  pathParameter("job", "The id of the job", JOB_ID),
  pathParameter("path", "The name of the object, as in the `path` of the output; it may contain slashes", "video.mp4"),
];

export const STORAGE_OPERATIONS = operations({ tag: "Storage", access: "anyone", path: OBJECT })({
  getObject: {
    route: "GET /storage/:job/:path{.+}",
    summary: "Read an object of the built-in storage",
    description:
      "Outputs of jobs with the storage `coconut` are available here for 24 hours to anyone who knows the URL.",
    parameters: [headerParameter("Range", "A single byte range", "bytes=0-1023")],
    responses: [
      { status: 200, description: "The object", content: { mediaType: "*/*" } },
      { status: 206, description: "The requested range", content: { mediaType: "*/*" } },
      { status: 304, description: "The copy of the client is current", content: null },
    ],
    codes: ["object_not_found", "precondition_failed", "range_not_satisfiable"],
  },
  headObject: {
    route: "HEAD /storage/:job/:path{.+}",
    summary: "Read the size and type of an object",
    responses: [{ status: 200, description: "Headers only", content: null }],
    codes: ["object_not_found"],
  },
});
