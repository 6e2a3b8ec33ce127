// Converts jobs of Coconut's API v2, which this service accepts. docs/coming-from-coconut.md lists the differences.
import { type Converted, isObject, type Json, type Note } from "../note.ts";

const REMOVED: ReadonlySet<string> = new Set(["rackspace", "ipfs_pinata", "ipfs_infura"]);

export function convertCoconutV2(body: unknown): Converted {
  const { input, storage, outputs, notification, settings, ...others } = isObject(body) ? body : {};
  const notes: Note[] = Object.keys(others).map((field) => ({
    level: "lost",
    field,
    message: "is no section of a job",
  }));
  const note = (level: Note["level"], field: string, message: string): void =>
    void notes.push({ level, field, message });
  const request: Record<string, unknown> = {
    input: input ?? { url: "" },
    storage: storageOf(storage, note),
    outputs: isObject(outputs) ? renamedFormats(outputs) : (outputs ?? {}),
    notification: notification ?? { type: "none" },
    ...(settings === undefined ? {} : { settings }),
  };
  for (const name of ["input", "storage", "outputs"] as const) {
    if (!isObject(isObject(body) ? body[name] : undefined)) note("todo", name, "the request does not have it");
  }
  const url = isObject(input) ? input.url : undefined;
  if (typeof url === "string" && /^s?ftps?:/i.test(url)) {
    note("todo", "input.url", "FTP and SFTP are not supported: use an http(s) URL or a bucket");
  }
  return { request, notes };
}

type AddNote = (level: Note["level"], field: string, message: string) => void;

function storageOf(storage: unknown, note: AddNote): unknown {
  if (!isObject(storage)) return storage ?? { service: "s3", bucket: "", region: "", credentials: {} };
  const { service, url } = storage;
  if (typeof service === "string" && REMOVED.has(service)) note("todo", "storage.service", "is not supported");
  if (typeof url === "string" && /^s?ftps?:/i.test(url)) note("todo", "storage.url", "FTP and SFTP are not supported");
  if (service === "s3" && storage.region === undefined) {
    note("todo", "storage.region", "the region is required; us-east-1 is a guess");
    return { ...storage, region: "us-east-1" };
  }
  if (typeof service === "string" && service !== "coconut" && storage.acl === undefined) {
    note("changed", "storage.acl", "objects are as public as the bucket; Coconut's default was `public-read`");
  }
  return storage;
}

/** Renames `x264` and `x265`, which this service would parse as heights. */
function renamedFormats(outputs: Json): Json {
  const renamed = (format: string): string =>
    format.replaceAll(/(?<=[:_])x264(?=[:_]|$)/g, "h264").replaceAll(/(?<=[:_])x265(?=[:_]|$)/g, "hevc");
  return Object.fromEntries(Object.entries(outputs).map(([format, params]) => [renamed(format), params]));
}
