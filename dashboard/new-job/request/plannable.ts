// Incomplete requests: missing fields, and stand-ins for a dry run.
import type { Json } from "../secrets.ts";
import { isObject, type Path, textAt, withValue } from "./edit.ts";
import { outputList } from "./output-list.ts";

export type Missing = { readonly field: string; readonly message: string };

/** Secrets of each service. */
const CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  azure: ["account", "api_key"],
  backblaze: ["app_key_id", "app_key"],
};
/** The names of buckets, where services do not call them buckets. */
const BUCKETS: Readonly<Record<string, string>> = { azure: "container", backblaze: "bucket_id" };
const KEYS = ["access_key_id", "secret_access_key"];
const keysOf = (service: string): readonly string[] =>
  service === "coconut" ? [] : Object.hasOwn(CREDENTIALS, service) ? (CREDENTIALS[service] ?? KEYS) : KEYS;

/** The fields that a valid request needs, as paths. */
function requiredFields({ input, storage, notification }: Json): string[][] {
  const source = textAt(input, ["service"]);
  const target = textAt(storage, ["service"]);
  const type = textAt(notification, ["type"]);
  const bucket = (section: string, service: string): string[][] =>
    keysOf(service).map((key) => [section, "credentials", key]);
  return [
    ...(isObject(input) && "upload" in input ? [] : source === "" ? [["input", "url"]] : [["input", "key"]]),
    ...(source === "" ? [] : [["input", BUCKETS[source] ?? "bucket"], ...bucket("input", source)]),
    ...(target === "" ? [["storage", "url"]] : bucket("storage", target)),
    ...(type === "http" ? [["notification", "url"]] : []),
    ...(type === "sns" ? [["notification", "topic_arn"], ...bucket("notification", "sns")] : []),
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
  "input.bucket_id": "0123456789abcdef",
  "input.container": "container",
  "input.credentials.account": "account",
  "input.credentials.api_key": "a2V5",
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
