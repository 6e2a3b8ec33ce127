// Converts requests of other services.
import { convertCoconutV2 } from "./coconut/v2.ts";
import { convertMediaConvert } from "./mediaconvert/mediaconvert.ts";
import { type Converted, isObject } from "./note.ts";
import { type OldService, SERVICE_NAMES } from "./services.ts";
import { convertZencoder } from "./zencoder/zencoder.ts";

const CONVERTERS: Readonly<Record<OldService, (body: unknown) => Converted>> = {
  coconut: convertCoconutV2,
  zencoder: convertZencoder,
  mediaconvert: convertMediaConvert,
};

export type Conversion =
  | { readonly ok: true; readonly service: OldService; readonly converted: Converted }
  | { readonly ok: false; readonly error: string };

/** Converts the text of a request. `service`: the service of the request; by default it is detected. */
export function convertText(text: string, service?: OldService): Conversion {
  const body = bodyOf(text);
  const source = service ?? detectService(body);
  if (source === null) {
    const names = Object.values(SERVICE_NAMES).join(", ");
    return { ok: false, error: `The request is of no service that can be converted: ${names}` };
  }
  if (!isObject(body)) {
    return { ok: false, error: `A request of ${SERVICE_NAMES[source]} is a JSON object, and this text is none` };
  }
  return { ok: true, service: source, converted: CONVERTERS[source](body) };
}

/** Returns the parsed JSON, or the text itself. */
function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Detects the service of a request by members that only this service has; null for an unknown service. */
export function detectService(body: unknown): OldService | null {
  if (!isObject(body)) return null;
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(body, name));
  const settings = isObject(body.Settings) ? body.Settings : body;
  if (Object.hasOwn(settings, "OutputGroups")) return "mediaconvert";
  if (isObject(body.input) || isObject(body.storage)) return "coconut";
  if (typeof body.input === "string") return "zencoder";
  return Array.isArray(body.outputs) || has("api_key") ? "zencoder" : null;
}
