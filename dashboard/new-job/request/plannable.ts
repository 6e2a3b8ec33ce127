// Incomplete requests: missing fields, and stand-ins for a dry run.
import type { Json } from "../secrets.ts";
import { isObject, type Path, textAt, withValue } from "./edit.ts";
import { outputList } from "./output-list.ts";
import { NOTIFICATIONS, type Service, SOURCES, STORAGES } from "./section-fields.ts";

export type Missing = { readonly field: string; readonly message: string };

/** The fields that a valid request needs, as paths. */
function requiredFields({ input, storage, notification }: Json): string[][] {
  const isUpload = isObject(input) && "upload" in input;
  const required = (section: string, services: Readonly<Record<string, Service>>, service: string): string[][] =>
    (services[service]?.fields ?? [])
      .filter((field) => field.required)
      .map(({ member }) => [section, ...member.split(".")]);
  return [
    ...(isUpload ? [] : required("input", SOURCES, textAt(input, ["service"]) || "url")),
    ...(isObject(storage) && "use" in storage
      ? []
      : required("storage", STORAGES, textAt(storage, ["service"]) || "url")),
    ...required("notification", NOTIFICATIONS, textAt(notification, ["type"])),
  ];
}

/** The fields that must be filled in before the request can be sent. */
export function missingIn(request: Json): Missing[] {
  const empty = requiredFields(request)
    .filter((path) => textAt(request, path) === "")
    .map((path) => ({ field: path.join("."), message: "is required" }));
  const outputs = outputList(request.outputs);
  const none = outputs.length === 0 ? [{ field: "outputs", message: "needs at least one output" }] : [];
  return [...empty, ...none];
}

/** Values that a dry run accepts: it reads no source and stores nothing. */
const STAND_INS: Readonly<Record<string, string>> = {
  "input.url": "https://source.example.com/source",
  "storage.url": "https://upload.example.com/",
  "notification.url": "https://hook.example.com/",
  "notification.topic_arn": "arn:aws:sns:us-east-1:123456789012:a",
  "input.endpoint": "https://s3.example.com",
  "storage.endpoint": "https://s3.example.com",
  "notification.region": "us-east-1",
  "input.bucket_id": "0123456789abcdef",
  "input.container": "container",
  "input.credentials.account": "account",
  "input.credentials.api_key": "a2V5",
  "storage.bucket_id": "0123456789abcdef",
  "storage.container": "container",
  "storage.credentials.account": "account",
  "storage.credentials.api_key": "a2V5",
};

/** The request for a dry run. A file that is still being uploaded does not matter. */
export function plannable(request: Json): Json {
  const complete = requiredFields(request).reduce<Json>((whole, path: Path) => {
    const field = path.join(".");
    return textAt(whole, path) === "" ? withValue(whole, path, STAND_INS[field] ?? "stand-in") : whole;
  }, request);
  const { input, notification, storage } = complete;
  return {
    ...complete,
    input:
      isObject(input) && "upload" in input
        ? { url: STAND_INS["input.url"] }
        : (input ?? { url: STAND_INS["input.url"] }),
    storage: storage ?? { service: "coconut" },
    notification: notification ?? { type: "none" },
  };
}

/**
 * True if an error about `refused` concerns the field or a part of its value. An error about `storage` concerns no
 * field inside it.
 */
export const isField = (field: string, refused: string | undefined): boolean =>
  refused !== undefined && (refused === field || refused.startsWith(`${field}.`));
