// What the request of another service does not have and this service needs.
import { isObject, type Json } from "./note.ts";

const KEYS = { access_key_id: "", secret_access_key: "" };

/** Notes what is to be filled in. */
type Todo = (field: string, message: string) => void;

/** A section with empty fields for what the old request does not have. */
export function withNeeds(section: Json, name: "input" | "storage", todo: Todo): Json {
  if (Object.keys(section).length === 0) {
    todo(name, `the old request does not name ${name === "input" ? "the source" : "a storage"}`);
    return name === "input" ? { url: "" } : { service: "s3", bucket: "", region: "", credentials: KEYS };
  }
  const { service } = section;
  if (typeof service !== "string" || service === "coconut") return section;
  const filled: Record<string, unknown> = { ...section };
  if (service === "s3" && section.region === undefined) {
    filled.region = "us-east-1";
    todo(`${name}.region`, "the old request does not name the region; us-east-1 is a guess");
  }
  if (!isObject(section.credentials)) {
    filled.credentials = service === "azure" ? { account: "", api_key: "" } : KEYS;
    todo(`${name}.credentials`, "the old service had access to the bucket; this one needs keys");
  }
  return filled;
}

/** A notification with empty keys where it is sent to a topic. */
export function withTopicKeys(notification: Json, todo: Todo): Json {
  if (notification.type !== "sns") return notification;
  todo("notification.credentials", "a key with the permission sns:Publish for the topic");
  return { ...notification, credentials: KEYS };
}
