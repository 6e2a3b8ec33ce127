// /v2/upload-links: links with which browsers upload one file each.
import { UploadLink, UploadLinkBody, UploadLinkList } from "#shared/api/upload-links.ts";
import { UPLOAD_LINK_ID } from "../operation/examples/list-responses.ts";
import { operations, pathParameter, queryParameters, success } from "../operation/operation.ts";
import { UploadListParameters } from "../query/upload-query.ts";

const ID = pathParameter("id", "The id of the upload link", UPLOAD_LINK_ID);

export const UPLOAD_LINK_OPERATIONS = operations({ tag: "Uploads", access: ["uploads:create"], path: [ID] })({
  createUploadLink: {
    route: "POST /v2/upload-links",
    isUnaudited: true,
    summary: "Create an upload link",
    description:
      "A browser sends one file to the link's `url` in parts, or to its `tus_url` with a client of tus 1.0.0, without an " +
      "API key. With `job`, the complete file starts this job, once. The link counts as an upload of `max_size`. It ends " +
      "with the API key that creates it. The body may have 64 KiB. With " +
      "`job` or `notification`, an API key with scopes also needs `jobs:create`, or for a job of a template `templates:use`.",
    body: {
      json: UploadLinkBody,
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
    responses: [success(201, "The new link", UploadLink)],
    codes: ["input_not_valid", "notification_not_valid", "tags_not_valid", "uploads_not_available", "too_many_uploads"],
  },
  listUploadLinks: {
    route: "GET /v2/upload-links",
    access: ["uploads:create", "jobs:read"],
    summary: "List upload links",
    parameters: queryParameters(UploadListParameters),
    responses: [success(200, "A page of upload links", UploadLinkList)],
  },
  getUploadLink: {
    route: "GET /v2/upload-links/:id",
    summary: "Read an upload link",
    responses: [success(200, "The link with its upload and its job", UploadLink)],
    codes: ["upload_link_not_found"],
  },
  revokeUploadLink: {
    route: "DELETE /v2/upload-links/:id",
    summary: "Revoke an upload link",
    description: "Removes an unfinished file. A link with a complete file cannot be revoked: delete its upload.",
    responses: [success(200, "The revoked link", UploadLink)],
    codes: ["upload_link_not_found", "upload_state_conflict"],
  },
});
