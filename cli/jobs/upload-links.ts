// copra upload-links.
import type { UploadLink, UploadLinkList, UploadLinkRequest } from "../../client/index.ts";
import { clientOf } from "../client.ts";
import type { Run } from "../command-spec.ts";
import { durationOption, listOption, type Options, pairsOption, textOption } from "../context.ts";
import { usageError } from "../exit.ts";
import { readText } from "../read-json.ts";
import { printable } from "../terminal/printable.ts";
import { table } from "../terminal/table.ts";
import { bytesText } from "../terminal/values.ts";

export const createUploadLink: Run = async (context, _args, options) => {
  const { output, signal } = context;
  const request = requestOf(options);
  const { copra } = await clientOf(context);
  const link = await copra.uploadLinks.create(request, { signal });
  output.data(link, () => linkText(link));
};

export const listUploadLinks: Run = async (context) => {
  const { output, signal, copra } = await clientOf(context);
  const links: UploadLinkList["upload_links"] = [];
  for await (const link of copra.uploadLinks.list({ signal })) links.push(link);
  output.data({ upload_links: links }, () =>
    table([
      ["LINK", "STATUS", "MAXIMUM", "EXPIRES", "NAME"].map(output.colors.bold),
      ...links.map(({ id, status, max_size, expires_at, name, upload }) => {
        return [id, status, bytesText(max_size), expires_at, printable(name ?? upload?.name ?? "")];
      }),
    ]),
  );
};

export const showUploadLink: Run = async (context, [id = ""]) => {
  const { output, signal, copra } = await clientOf(context);
  const link = await copra.uploadLinks.get(id, { signal });
  output.data(link, () => linkText(link));
};

export const revokeUploadLinks: Run = async (context, ids) => {
  const { output, signal, copra } = await clientOf(context);
  for (const id of ids) await copra.uploadLinks.revoke(id, { signal });
  output.data({ revoked: ids }, () => ids.join("\n"));
};

function requestOf(options: Options): UploadLinkRequest {
  const expiresS = durationOption(options, "expires", "--expires");
  const name = textOption(options, "name");
  const jobFile = textOption(options, "job");
  const webhook = textOption(options, "webhook");
  const tags = pairsOption(options, "tag");
  return {
    max_size: sizeOf(textOption(options, "maxSize")),
    origins: [...listOption(options, "origin")],
    ...(expiresS === undefined ? {} : { expires_s: expiresS }),
    ...(name === undefined ? {} : { name }),
    ...(tags ? { tags } : {}),
    ...(jobFile === undefined ? {} : { job: jobOf(jobFile) }),
    ...(webhook === undefined ? {} : { notification: { type: "http", url: webhook } }),
  };
}

const UNITS = ["", "k", "m", "g", "t"];

/** A size such as `500MB` or `5GB` in bytes. */
function sizeOf(text: string | undefined): number {
  const [, number, unit = ""] = /^(\d{1,15}(?:\.\d{1,3})?) ?([kmgt]?)b?$/i.exec(text ?? "") ?? [];
  if (number === undefined) throw usageError(`--max-size must be a size such as 500MB or 5GB, not "${text ?? ""}"`);
  return Math.round(Number(number) * 1000 ** UNITS.indexOf(unit.toLowerCase()));
}

function jobOf(path: string): NonNullable<UploadLinkRequest["job"]> {
  const text = readText(path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--job must be a JSON file with the body of a job without its input: ${String(error)}`);
  }
}

function linkText(link: UploadLink): string {
  const { id, status, max_size, expires_at, last_refused_origin, url, tus_url, upload, job, job_error } = link;
  return table([
    ["upload link", id],
    ["status", status],
    ["url", url],
    ["tus url", tus_url],
    ["maximum", bytesText(max_size)],
    ["expires", expires_at],
    ...(last_refused_origin === null ? [] : [["refused origin", printable(last_refused_origin)]]),
    ...(upload ? [["upload", `${upload.id} ${printable(upload.name)} (${bytesText(upload.size)})`]] : []),
    ...(job === null ? [] : [["job", job]]),
    ...(job_error ? [["job error", printable(job_error.message)]] : []),
  ]);
}
