// The request of a job as the service understood it, for its client to edit and send again.
import type { RequestView } from "#shared/api/command-responses.ts";
import { publicUrl } from "#shared/job/metadata.ts";
import { receiversOf } from "#shared/request/notification-section.ts";
import { outputNames, printRequest } from "#shared/request/print-request.ts";
import type { JobSpec } from "../../rpc/job-spec.ts";
import type { JobSecrets } from "../secrets/job-secrets.ts";

export function viewRequest(spec: JobSpec, secrets: JobSecrets): RequestView {
  return { job_id: spec.id, request: printRequest(spec), left_out: leftOut(spec, secrets) };
}

/** Fields that the request still needs, or whose URLs are not complete, by their names in error messages. */
function leftOut(spec: JobSpec, secrets: JobSecrets): string[] {
  const { input, storage, outputs } = spec;
  const names = outputNames(outputs);
  const extras = Object.keys(secrets.extraUrls).map((place) => {
    const [index, ...field] = place.split(".");
    return `outputs.${names.get(Number(index))}.${field.join(".")}.url`;
  });
  const keys = secrets.streamKeys.filter(({ isGenerated }) => !isGenerated);
  return [
    ...(input.kind === "url" && secrets.input ? partsOf("input.url", secrets.input) : []),
    ...(input.kind === "url" && input.hasHeaders ? ["input.headers"] : []),
    ...(input.kind === "bucket" || input.kind === "azure" ? ["input.credentials"] : []),
    ...(secrets.storage ? [storage.kind === "http" ? "storage.url" : "storage.credentials"] : []),
    ...(storage.kind === "http" && !secrets.storage ? partsOf("storage.url", storage) : []),
    ...extras,
    ...keys.map(({ output }) => `outputs.${names.get(output)}.encryption.key`),
    ...receiversOf(spec).flatMap((notification, at) => {
      const name = spec.moreReceivers ? `notification.${at}` : "notification";
      const secret = receiversOf(secrets)[at] ?? secrets.notification;
      if (notification.type === "http") return partsOf(`${name}.url`, secret);
      return notification.type === "sns" ? [`${name}.credentials`, ...paramsOf(name, secret)] : [];
    }),
  ];
}

/** The field of a URL if it has secret parts. */
const partsOf = (field: string, secret: object): string[] =>
  "url" in secret && typeof secret.url === "string" && publicUrl(secret.url) === secret.url ? [] : [field];

const paramsOf = (name: string, secret: JobSecrets["notification"]): string[] =>
  "params" in secret && Object.keys(secret.params).length > 0 ? [`${name}.params`] : [];
