// Refuses events whose job would start the next job, by the objects that its outputs write.
import { AppError } from "#shared/errors.ts";
import { excerpt } from "#shared/excerpt.ts";
import { counterOf, joinPath, objectName } from "#shared/job/object-name.ts";
import { playlistsOf } from "#shared/job/output-files.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { writtenBy } from "#shared/request/outputs/output-objects.ts";
import type { AccessSecret } from "#shared/request/storage/storage-spec.ts";
import { filtersOf, isWanted } from "#shared/template/bucket-events.ts";
import type { NewRequest } from "../jobs/create/create-job.ts";

type Request = NewRequest["request"];

/** Names of objects. `between`: what they have between their start and end: nothing, a number, or any text. */
type Names = { readonly before: string; readonly after: string; readonly between: "" | "number" | "text" };

/** Ends of names in the folder of a stream (encoder-node/package/package-files.ts). */
const SEGMENTS = { mpegts: [".ts"], fmp4: [".m4s", "/init.mp4"] } as const;
const OTHERS = [".m3u8", ".vtt", ".jpg"] as const;

/** Throws AppError(event_not_valid) if an output's own event may pass the filters: each job would start the next. */
export function refuseLoop(request: Request, ingest: unknown): void {
  const folder = folderInBucket(request);
  if (folder === null) return;
  const again = request.outputs.flatMap((output) => namesOf(output, folder)).find((names) => mayPass(names, ingest));
  if (again === undefined) return;
  const name = again.before + (again.between && "…") + again.after;
  const change = "change its path, or `ingest` of the template";
  throw new AppError("event_not_valid", `The output \`${excerpt(name)}\` would start another job: ${change}`);
}

/** The storage's folder in the bucket of the input; null if the storage is elsewhere. */
function folderInBucket({ input, storage, secrets }: Request): string | null {
  if ((storage.kind !== "s3" && storage.kind !== "azure") || (input.kind !== "bucket" && input.kind !== "azure")) {
    return null;
  }
  // A server may have several names. With the same key and bucket it is the same.
  const key = keyOf(secrets.input);
  const isSameServer = input.endpoint === storage.endpoint || (key !== null && key === keyOf(secrets.storage));
  return isSameServer && bucketOf(input) === bucketOf(storage) ? storage.path : null;
}

const bucketOf = (place: { bucket: string } | { container: string }): string =>
  "bucket" in place ? place.bucket : place.container;
const keyOf = (secret: AccessSecret | null): string | null =>
  secret !== null && "accessKeyId" in secret ? secret.accessKeyId : null;

function namesOf(output: OutputSpec, folder: string): Names[] {
  const files = writtenBy(output).map(({ path, count }): Names => {
    const counter = count === 1 ? null : counterOf(path);
    if (counter === null) return { before: joinPath(folder, objectName(path, 1)), after: "", between: "" };
    const [before = "", after = ""] = joinPath(folder, path).split(counter, 2);
    return { before, after, between: "number" };
  });
  if (output.type !== "httpstream") return files;
  const segments = playlistsOf(output).flatMap(({ path, segments }) => {
    const playlist = joinPath(folder, path);
    const before = playlist.slice(0, playlist.lastIndexOf("/") + 1);
    return [...SEGMENTS[segments], ...OTHERS].map((after): Names => ({ before, after, between: "text" }));
  });
  return [...files, ...segments];
}

/** True if a name may pass the filters of a template. */
function mayPass({ before, after, between }: Names, ingest: unknown): boolean {
  if (between === "") return isWanted(before, ingest);
  const { prefixes, suffixes } = filtersOf(ingest);
  const mayStart = (prefix: string): boolean => {
    const rest = prefix.slice(before.length);
    const isBetween = between === "text" || (/^\d/.test(rest) && after.startsWith(rest.replace(/^\d+/, "")));
    return before.startsWith(prefix) || (prefix.startsWith(before) && isBetween);
  };
  const mayEnd = (suffix: string): boolean => {
    const rest = suffix.slice(0, -after.length || undefined);
    const isBetween = between === "text" || (/\d$/.test(rest) && before.endsWith(rest.replace(/(?<!\d)\d+$/, "")));
    return after.endsWith(suffix) || (suffix.endsWith(after) && isBetween);
  };
  return prefixes.some(mayStart) && suffixes.some(mayEnd);
}
