// The body of POST /v2/jobs: one section after the other, in the order in which errors are answered (api-v2 §2).
import * as z from "zod";
import type { ErrorCode } from "../errors.ts";
import type { OutputSpec } from "../job/output-spec.ts";
import type { AllowPrivate } from "../network/address-policy.ts";
import { strictObject } from "../strict-object.ts";
import { type InputSpec, parseInput } from "./input-section.ts";
import { withOtherName } from "./missing-section.ts";
import { type NotificationSpec, parseNotification } from "./notification-section.ts";
import { checkNameLengths } from "./outputs/name-lengths.ts";
import { parseOutputs } from "./outputs/outputs-section.ts";
import { type AskedStreamKey, takeStreamKeys } from "./outputs/stream-keys.ts";
import { isObject, type Parsed, parseSection, refuse } from "./parse-section.ts";
import { parseStorage } from "./storage/storage-section.ts";
import type { AccessKeys, AccessSecret, NotificationSecret, RequestedStorage } from "./storage/storage-spec.ts";
import { illFormedField, UNICODE_RULE } from "./well-formed.ts";

export const SettingsSpec = z.object({ ultrafast: z.boolean() });
export type SettingsSpec = z.infer<typeof SettingsSpec>;

export type JobRequest = {
  input: InputSpec;
  storage: RequestedStorage;
  outputs: OutputSpec[];
  notification: NotificationSpec;
  settings: SettingsSpec;
  secrets: RequestSecrets;
};

/** The secrets of a request, apart from all else; null where there are none. */
type RequestSecrets = {
  input: AccessSecret;
  storage: AccessKeys | null;
  notification: NotificationSecret;
  streamKeys: AskedStreamKey[];
};

/** The `settings` section as clients write it. */
export const SettingsBody = strictObject({
  ultrafast: z
    .boolean("must be true or false")
    .default(false)
    .describe("Whether inputs of more than a minute are cut into chunks that several nodes encode at once"),
});

/** The sections in the order in which they answer, and what each answers to text that is none. */
const SECTIONS = {
  input: "input_not_valid",
  storage: "storage_not_valid",
  outputs: "output_param_not_valid",
  notification: "notification_not_valid",
  settings: "settings_not_valid",
} as const satisfies Record<string, ErrorCode>;

/**
 * Parses the body of a job request; the first section that is wrong answers. Members that are no section are ignored:
 * clients of the field may send some.
 */
export function parseJobRequest(body: unknown, allow: AllowPrivate): Parsed<JobRequest> {
  if (!isObject(body)) return refuse("json_not_valid", "The body must be a JSON object");
  for (const [section, code] of Object.entries(SECTIONS)) {
    const field = illFormedField(section, body[section]);
    if (field !== null) return refuse(code, `\`${field}\`: ${UNICODE_RULE}`);
  }
  const input = parseInput(body.input, allow);
  if (!input.ok) return input;
  const storage = withOtherName(parseStorage(body.storage, allow), "storage", body);
  if (!storage.ok) return storage;
  const outputs = withOtherName(parseOutputs(body.outputs, allow), "outputs", body);
  if (!outputs.ok) return outputs;
  const named = checkNameLengths(outputs.value, storage.value.storage);
  if (!named.ok) return named;
  const notification = withOtherName(parseNotification(body.notification, allow), "notification", body);
  if (!notification.ok) return notification;
  const settings = parseSection(SettingsBody, body.settings ?? {}, "settings", "settings_not_valid");
  if (!settings.ok) return settings;
  const streams = takeStreamKeys(outputs.value);
  return {
    ok: true,
    value: {
      input: input.value.input,
      storage: storage.value.storage,
      outputs: streams.outputs,
      notification: notification.value.notification,
      settings: settings.value,
      secrets: {
        input: input.value.secret,
        storage: storage.value.keys,
        notification: notification.value.secret,
        streamKeys: streams.keys,
      },
    },
  };
}
