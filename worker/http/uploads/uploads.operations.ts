// /v2/uploads: files of clients that jobs read as their sources.

import * as z from "zod";
import { Upload, UploadBody, UploadList, UploadPart } from "#shared/api/uploads.ts";
import { UPLOAD_ID } from "../operation/examples/list-responses.ts";
import { headerParameter, operations, pathParameter, queryParameters, success } from "../operation/operation.ts";
import { UploadListParameters } from "../query/upload-query.ts";

const ID = pathParameter("id", "The id of the upload", UPLOAD_ID);

const NUMBER = { ...pathParameter("number", "The number of the part, from 1", "1"), schema: z.int().min(1) };

export const UPLOAD_OPERATIONS = operations({ tag: "Uploads", access: ["uploads:create"], path: [ID, NUMBER] })({
  createUpload: {
    route: "POST /v2/uploads",
    isUnaudited: true,
    summary: "Start an upload",
    description:
      "A file becomes the source of jobs in three steps: start an upload with its name and size, PUT its parts, complete " +
      "it. Then jobs name it as `input: { upload: id }`. It is removed 24 hours after the last write or the creation of " +
      "the last job that reads it; while such a job has not ended, a day later.",
    body: {
      json: UploadBody,
      examples: { file: { summary: "A file of 150 MB", value: { name: "video.mov", size: 157_286_400 } } },
    },
    responses: [success(201, "The new upload", Upload)],
    codes: ["uploads_not_available", "too_many_uploads"],
  },
  listUploads: {
    route: "GET /v2/uploads",
    access: ["uploads:create", "jobs:read"],
    summary: "List uploads",
    parameters: queryParameters(UploadListParameters),
    responses: [success(200, "A page of uploads", UploadList)],
  },
  getUpload: {
    route: "GET /v2/uploads/:id",
    summary: "Read an upload",
    description: "After an interruption, send the parts that `parts` does not have.",
    responses: [success(200, "The upload with its stored parts", Upload)],
    codes: ["upload_not_found"],
  },
  putUploadPart: {
    route: "PUT /v2/uploads/:id/parts/:number",
    isUnaudited: true,
    summary: "Send a part",
    description:
      "The body has the bytes of the part: `part_size` bytes, the last part the rest. Parts may be sent in any order, " +
      "several at a time, and again. With a digest, a body that does not match is not stored.",
    parameters: [
      headerParameter("Content-Digest", "`sha-256=:…:`, the SHA-256 of the body in Base64 (RFC 9530)", "sha-256=:…:"),
      headerParameter("Content-MD5", "The MD5 of the body in Base64", "1B2M2Y8AsgTpgAmY7PhCfg=="),
    ],
    bytes: true,
    responses: [success(200, "The stored part", UploadPart)],
    codes: ["upload_not_found", "upload_part_not_valid", "upload_state_conflict"],
  },
  completeUpload: {
    route: "POST /v2/uploads/:id/complete",
    isUnaudited: true,
    summary: "Complete an upload",
    description: "All parts must be stored. A repeated request changes nothing.",
    responses: [success(200, "The completed upload", Upload)],
    codes: ["upload_not_found", "upload_state_conflict"],
  },
  deleteUpload: {
    route: "DELETE /v2/uploads/:id",
    summary: "Delete an upload",
    description: "Removes the file, unless a job that has not ended reads it.",
    responses: [success(200, "The deleted upload", Upload)],
    codes: ["upload_not_found", "upload_state_conflict"],
  },
});
