// /v2/upload-links: links with which browsers upload one file each.
import { UploadListParameters } from "../../query/upload-query.ts";
import { UPLOAD_LINK_ID } from "../examples/list-responses.ts";
import { type Operation, pathParameter, queryParameters, success } from "../operation.ts";

const ID = pathParameter("id", "The id of the upload link", UPLOAD_LINK_ID);
const link = { tag: "Uploads", access: "client" } as const;

const answer = (status: number, description: string): Operation["responses"] => [
  success(status, description, "UploadLink"),
];

export const UPLOAD_LINK_OPERATIONS: readonly Operation[] = [
  {
    ...link,
    method: "post",
    path: "/v2/upload-links",
    id: "createUploadLink",
    summary: "Create an upload link",
    description:
      "A browser sends one file to the link's `url` in parts, or to its `tus_url` with a client of tus 1.0.0, without an " +
      "API key. With `job`, the complete file starts this job, once. The link counts as an upload of `max_size`. It ends " +
      "with the API key that creates it. The body may have 64 KiB. With " +
      "`job` or `notification`, an API key with scopes also needs `jobs:create`, or for a job of a template `templates:use`.",
    body: {
      json: "NewUploadLink",
      examples: {
        link: {
          summary: "A video of up to 5 GB, within an hour",
          value: { max_size: 5_000_000_000, expires_s: 3600, origins: ["https://app.example.com"] },
        },
        job: {
          summary: "A video that starts a job",
          value: {
            max_size: 5_000_000_000,
            origins: ["https://app.example.com"],
            job: {
              storage: { service: "coconut" },
              outputs: { "mp4:720p": { path: "video.mp4" } },
              notification: { type: "http", url: "https://app.example.com/webhooks" },
            },
          },
        },
      },
    },
    responses: answer(201, "The new link"),
    codes: [
      ...([
        "json_not_valid",
        "request_not_valid",
        "input_not_valid",
        "notification_not_valid",
        "tags_not_valid",
      ] as const),
      ...(["body_too_large", "uploads_not_available", "too_many_uploads"] as const),
    ],
  },
  {
    ...link,
    method: "get",
    path: "/v2/upload-links",
    id: "listUploadLinks",
    summary: "List upload links",
    parameters: queryParameters(UploadListParameters),
    responses: [success(200, "A page of upload links", "UploadLinkList")],
    codes: ["query_not_valid"],
  },
  {
    ...link,
    method: "get",
    path: "/v2/upload-links/:id",
    id: "getUploadLink",
    summary: "Read an upload link",
    parameters: [ID],
    responses: answer(200, "The link with its upload and its job"),
    codes: ["upload_link_not_found"],
  },
  {
    ...link,
    method: "delete",
    path: "/v2/upload-links/:id",
    id: "revokeUploadLink",
    summary: "Revoke an upload link",
    description: "Removes an unfinished file. A link with a complete file cannot be revoked: delete its upload.",
    parameters: [ID],
    responses: answer(200, "The revoked link"),
    codes: ["upload_link_not_found", "upload_state_conflict"],
  },
];
