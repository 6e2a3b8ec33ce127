// /v2/uploads: files of clients that jobs read as their sources.
import * as z from "zod";
import { UploadListParameters } from "../../query/upload-query.ts";
import { UPLOAD_ID } from "../examples/list-responses.ts";
import { type Operation, type Parameter, pathParameter, queryParameters, success } from "../operation.ts";

const ID = pathParameter("id", "The id of the upload", UPLOAD_ID);
const upload = { tag: "Uploads", access: "client" } as const;

const digestHeader = (name: string, description: string, example: string): Parameter => ({
  in: "header",
  name,
  description,
  schema: z.string(),
  required: false,
  example,
});

const answer = (status: number, description: string): Operation["responses"] => [
  success(status, description, "Upload"),
];

export const UPLOAD_OPERATIONS: readonly Operation[] = [
  {
    ...upload,
    method: "post",
    path: "/v2/uploads",
    id: "createUpload",
    summary: "Start an upload",
    description:
      "A file becomes the source of jobs in three steps: start an upload with its name and size, PUT its parts, complete " +
      "it. Then jobs name it as `input: { upload: id }`. It is removed 24 hours after the last write or the creation of " +
      "the last job that reads it; while such a job has not ended, a day later.",
    body: {
      json: "NewUpload",
      examples: { file: { summary: "A file of 150 MB", value: { name: "video.mov", size: 157_286_400 } } },
    },
    responses: answer(201, "The new upload"),
    codes: ["json_not_valid", "request_not_valid", "body_too_large", "uploads_not_available", "too_many_uploads"],
  },
  {
    ...upload,
    method: "get",
    path: "/v2/uploads",
    id: "listUploads",
    summary: "List uploads",
    parameters: queryParameters(UploadListParameters),
    responses: [success(200, "A page of uploads", "UploadList")],
    codes: ["query_not_valid"],
  },
  {
    ...upload,
    method: "get",
    path: "/v2/uploads/:id",
    id: "getUpload",
    summary: "Read an upload",
    description: "After an interruption, send the parts that `parts` does not have.",
    parameters: [ID],
    responses: answer(200, "The upload with its stored parts"),
    codes: ["upload_not_found"],
  },
  {
    ...upload,
    method: "put",
    path: "/v2/uploads/:id/parts/:number",
    id: "putUploadPart",
    summary: "Send a part",
    description:
      "The body has the bytes of the part: `part_size` bytes, the last part the rest. Parts may be sent in any order, " +
      "several at a time, and again. With a digest, a body that does not match is not stored.",
    parameters: [
      ID,
      { ...pathParameter("number", "The number of the part, from 1", "1"), schema: z.int().min(1) },
      digestHeader("Content-Digest", "`sha-256=:…:`, the SHA-256 of the body in Base64 (RFC 9530)", "sha-256=:…:"),
      digestHeader("Content-MD5", "The MD5 of the body in Base64", "1B2M2Y8AsgTpgAmY7PhCfg=="),
    ],
    bytes: true,
    responses: [success(200, "The stored part", "UploadPart")],
    codes: ["upload_not_found", "upload_part_not_valid", "upload_state_conflict"],
  },
  {
    ...upload,
    method: "post",
    path: "/v2/uploads/:id/complete",
    id: "completeUpload",
    summary: "Complete an upload",
    description: "All parts must be stored. A repeated request changes nothing.",
    parameters: [ID],
    responses: answer(200, "The completed upload"),
    codes: ["upload_not_found", "upload_state_conflict"],
  },
  {
    ...upload,
    method: "delete",
    path: "/v2/uploads/:id",
    id: "deleteUpload",
    summary: "Delete an upload",
    description: "Removes the file, unless a job that has not ended reads it.",
    parameters: [ID],
    responses: answer(200, "The deleted upload"),
    codes: ["upload_not_found", "upload_state_conflict"],
  },
];
