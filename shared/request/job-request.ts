// The body of POST /v2/jobs: one section after the other, in the order in which errors are answered (api-v2 §2).
import * as z from "zod";
import type { AllowPrivate } from "../address-policy.ts";
import type { OutputSpec } from "../output-spec.ts";
import { type InputSecret, type InputSpec, parseInput } from "./input-section.ts";
import { type NotificationSpec, parseNotification } from "./notification-section.ts";
import { parseOutputs } from "./outputs-section.ts";
import { isObject, type Parsed, parseSection, refuse } from "./parse-section.ts";
import { parseStorage } from "./storage-section.ts";
import type { AccessKeys, RequestedStorage } from "./storage-spec.ts";

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
type RequestSecrets = { input: InputSecret; storage: AccessKeys | null; notification: AccessKeys | null };

/** The `settings` section as clients write it. */
export const SettingsBody = z.strictObject({
  ultrafast: z
    .boolean("must be true or false")
    .default(false)
    .describe("Whether inputs of more than a minute are cut into chunks that several nodes encode at once"),
});

/** Parses the body of a job request; the first section that is wrong answers. */
export function parseJobRequest(body: unknown, allow: AllowPrivate): Parsed<JobRequest> {
  if (!isObject(body)) return refuse("json_not_valid", "The body must be a JSON object");
  const input = parseInput(body.input, allow);
  if (!input.ok) return input;
  const storage = parseStorage(body.storage, allow);
  if (!storage.ok) return storage;
  const outputs = parseOutputs(body.outputs, allow);
  if (!outputs.ok) return outputs;
  const notification = parseNotification(body.notification, allow);
  if (!notification.ok) return notification;
  const settings = parseSection(SettingsBody, body.settings ?? {}, "settings", "settings_not_valid");
  if (!settings.ok) return settings;
  return {
    ok: true,
    value: {
      input: input.value.input,
      storage: storage.value.storage,
      outputs: outputs.value,
      notification: notification.value.notification,
      settings: settings.value,
      secrets: { input: input.value.secret, storage: storage.value.keys, notification: notification.value.keys },
    },
  };
}
