// Parses the body of POST /v2/probes: a source, and the nodes that may read it.
import type { AllowPrivate } from "../network/address-policy.ts";
import { Labels, PoolName } from "../placement.ts";
import { ok, type Result } from "../result.ts";
import { strictObject } from "../strict-object.ts";
import { InputBody, parseInput, type RequestedInput } from "./input-section.ts";
import { invalid, isObject, parseSection } from "./parse-section.ts";
import { parseSettings, type SettingsSpec } from "./settings-section.ts";
import type { AccessSecret } from "./storage/storage-spec.ts";
import { nonUnicodeField, UNICODE_RULE } from "./unicode.ts";

export type ProbeRequest = {
  readonly input: RequestedInput;
  readonly settings: SettingsSpec;
  readonly secret: AccessSecret | null;
};

/** Higher than the default 0 of jobs, because a person waits for the result. */
const PRIORITY = 10;
/** Maximum seconds that a probe waits for a node, and then runs. */
const LIMITS = { start_within_s: 600, max_run_s: 1800 };

export const ProbeBody = strictObject({
  input: InputBody.describe("The source, as in jobs"),
  settings: strictObject({
    queue: PoolName.optional().describe("The pool of nodes that reads the source"),
    require: Labels.optional().describe("Labels that a node must have to read the source"),
  })
    .optional()
    .describe("Which nodes may read the source"),
});

/** Reports the first error with the name of the field. */
export function parseProbeRequest(body: unknown, allow: AllowPrivate): Result<ProbeRequest> {
  if (!isObject(body)) return invalid("json_not_valid", "The body must be a JSON object");
  const field = nonUnicodeField("", body);
  if (field !== null) return invalid("input_not_valid", `\`${field}\` ${UNICODE_RULE}`);
  const { input: _, ...rest } = body;
  const others = parseSection(ProbeBody.omit({ input: true }), rest, "", "request_not_valid");
  if (!others.ok) return others;
  const input = parseInput(body.input, allow);
  if (!input.ok) return input;
  const settings = parseSettings({ ...others.value.settings, ...LIMITS, priority: PRIORITY });
  if (!settings.ok) return settings;
  return ok({ input: input.value.input, settings: settings.value, secret: input.value.secret });
}
