// Parses the body of POST /v2/jobs, section by section, in the order in which errors are reported (api-v2 §2).

import type { ErrorCode } from "../errors.ts";
import type { OutputSpec } from "../job/output-spec.ts";
import { type Tags, TagsBody } from "../job/tags.ts";
import type { AllowPrivate } from "../network/address-policy.ts";
import { ok, type Result } from "../result.ts";
import { parseClip, withClip } from "./clip.ts";
import { parseInput, type RequestedInput } from "./input-section.ts";
import { suggestSection } from "./misnamed-section.ts";
import { type NotificationSpec, parseReceivers } from "./notification-section.ts";
import { checkNameLengths } from "./outputs/name-lengths.ts";
import { parseOutputs } from "./outputs/outputs-section.ts";
import { withQualityReport } from "./outputs/quality-report.ts";
import { checkSourceKept } from "./outputs/source-kept.ts";
import { type RequestedStreamKey, takeStreamKeys } from "./outputs/stream-keys.ts";
import { invalid, isObject, parseSection } from "./parse-section.ts";
import { parseSettings, type SettingsSpec } from "./settings-section.ts";
import { parseStorage } from "./storage/storage-section.ts";
import type { AccessKeys, AccessSecret, NotificationSecret, RequestedStorage } from "./storage/storage-spec.ts";
import { nonUnicodeField, UNICODE_RULE } from "./unicode.ts";

export type JobRequest = {
  input: RequestedInput;
  storage: RequestedStorage;
  outputs: OutputSpec[];
  notification: NotificationSpec;
  /** All receivers but the first. */
  moreReceivers?: NotificationSpec[];
  settings: SettingsSpec;
  tags?: Tags;
  secrets: RequestSecrets;
};

/** Secrets of a request, which are stored separately; null if absent. */
type RequestSecrets = {
  input: AccessSecret | null;
  storage: AccessKeys | null;
  notification: NotificationSecret;
  moreReceivers: NotificationSecret[];
  streamKeys: RequestedStreamKey[];
};

/** Sections in their parsing order, with the error code of each for text that is not valid Unicode. */
const SECTIONS = {
  input: "input_not_valid",
  storage: "storage_not_valid",
  outputs: "output_param_not_valid",
  notification: "notification_not_valid",
  settings: "settings_not_valid",
  tags: "tags_not_valid",
} as const satisfies Record<string, ErrorCode>;

/**
 * Parses the body of a job request. Reports the first error. Ignores properties that are not sections, because some
 * existing clients send them.
 */
export function parseJobRequest(body: unknown, allow: AllowPrivate): Result<JobRequest> {
  if (!isObject(body)) return invalid("json_not_valid", "The body must be a JSON object");
  for (const [section, code] of Object.entries(SECTIONS)) {
    const field = nonUnicodeField(section, body[section]);
    if (field !== null) return invalid(code, `\`${field}\` ${UNICODE_RULE}`);
  }
  const { start, end, ...source } = isObject(body.input) ? body.input : {};
  const input = parseInput(isObject(body.input) ? source : body.input, allow);
  if (!input.ok) return input;
  const clip = parseClip(start, end);
  if (!clip.ok) return clip;
  const storage = suggestSection(parseStorage(body.storage, allow), "storage", body);
  if (!storage.ok) return storage;
  const outputs = suggestSection(parseOutputs(body.outputs, allow), "outputs", body);
  if (!outputs.ok) return outputs;
  const named = checkNameLengths(outputs.value, storage.value.storage);
  if (!named.ok) return named;
  const sourceCheck = checkSourceKept(outputs.value, input.value.input, storage.value.storage);
  if (!sourceCheck.ok) return sourceCheck;
  const receivers = suggestSection(parseReceivers(body.notification, allow), "notification", body);
  if (!receivers.ok) return receivers;
  const { first, more } = receivers.value;
  const settings = parseSettings(body.settings);
  if (!settings.ok) return settings;
  const clipped = withClip(outputs.value, clip.value);
  if (!clipped.ok) return clipped;
  const measured = withQualityReport(clipped.value, settings.value);
  if (!measured.ok) return measured;
  const tags = parseTags(body.tags);
  if (!tags.ok) return tags;
  const streams = takeStreamKeys(measured.value);
  return ok({
    input: input.value.input,
    storage: storage.value.storage,
    outputs: streams.outputs,
    notification: first.notification,
    ...(more.length === 0 ? {} : { moreReceivers: more.map(({ notification }) => notification) }),
    settings: settings.value,
    ...(Object.keys(tags.value).length === 0 ? {} : { tags: tags.value }),
    secrets: {
      input: input.value.secret,
      storage: storage.value.keys,
      notification: first.secret,
      moreReceivers: more.map(({ secret }) => secret),
      streamKeys: streams.keys,
    },
  });
}

/** Parses the `tags` section; undefined and null mean no tags. */
function parseTags(value: unknown): Result<Tags> {
  return parseSection(TagsBody, value ?? {}, "tags", "tags_not_valid");
}
