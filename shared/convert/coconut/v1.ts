// Jobs of Coconut's API v1: a configuration, or JSON with `source`, `webhook` and `outputs`.
import { Draft } from "../draft.ts";
import { type Converted, isObject, type Json } from "../note.ts";
import { parseV1, split, type V1Config, type V1Output } from "./v1-config.ts";

/** `body` is the configuration, or an object that may have one in `conf`. */
export function convertCoconutV1(body: unknown): Converted {
  const draft = new Draft();
  const { settings, outputs, unknown } = configOf(body);
  const source = settings.get("source")?.value;
  if (source !== undefined) draft.inputUrl(source, "source");
  const webhook = settings.get("webhook");
  if (webhook !== undefined) {
    draft.notify(webhook.value, "webhook");
    const on = (name: string): Json => (isOn(webhook.params.get(name)) ? { [name]: true } : {});
    draft.notificationOptions({ ...on("events"), ...on("metadata") });
  }
  for (const name of settings.keys()) {
    if (name !== "source" && name !== "webhook") draft.lost(`set ${name}`, "there is no such setting");
  }
  // Without their text, which may hold a secret.
  if (unknown.length > 0) draft.lost(`${unknown.length} lines`, "are none of `var`, `set` and `->`");
  for (const output of outputs) convertOutput(draft, output);
  return draft.finish();
}

function configOf(body: unknown): V1Config {
  if (typeof body === "string") return parseV1(body);
  const { conf, source, webhook, outputs, vars } = isObject(body) ? body : {};
  const variables = isObject(vars) ? vars : {};
  const parsed = parseV1(typeof conf === "string" ? conf : "", variables);
  const settings = new Map(parsed.settings);
  if (typeof source === "string") settings.set("source", split(source));
  if (typeof webhook === "string") settings.set("webhook", split(webhook));
  const own = Object.entries(isObject(outputs) ? outputs : {}).flatMap(([format, value]) =>
    [value].flat().map((one) => {
      const { value: url, params } = split(String(one));
      return { format, url, params };
    }),
  );
  return { ...parsed, settings, outputs: [...parsed.outputs, ...own] };
}

const isOn = (text: string | undefined): boolean => /^(?:true|yes|1|on)$/i.test(text ?? "");
const counted = (path: string): string => path.replaceAll(/#num#/gi, "%02d");

/** Parameters with another name or form; those of `KEPT` are numbers or texts as they are. */
const KEPT: Readonly<Record<string, string>> = {
  ...{
    number: "number",
    duration: "duration",
    offset: "offset",
    transpose: "transpose",
    every: "interval",
    blur: "blur",
  },
};
const FLAGS: ReadonlySet<string> = new Set(["square", "sprite", "vtt", "vflip", "hflip", "deinterlace"]);
const DONE: ReadonlySet<string> = new Set(["if", "fit", "offsets", "watermark_url", "watermark_position"]);

function convertOutput(draft: Draft, { format, url, params }: V1Output): void {
  const field = `-> ${format}`;
  if (format.toLowerCase() === "httpstream") return convertStream(draft, url, params);
  const condition = params.get("if");
  const isAnimated = /^gif/i.test(format);
  const known = [...params].flatMap(([name, value]): [string, unknown][] => {
    if (Object.hasOwn(KEPT, name)) return [[KEPT[name] ?? name, numberOf(value)]];
    if (FLAGS.has(name)) return isOn(value) ? [[name, true]] : [];
    if (!DONE.has(name)) draft.lost(`${field}, ${name}`, "there is no such parameter");
    return [];
  });
  const { number, duration, ...rest } = Object.fromEntries(known);
  const offsets = params.get("offsets")?.split(",").map(Number).filter(Number.isFinite);
  const image = params.get("watermark_url");
  draft.output(
    renamed(format),
    {
      path: counted(draft.outputPath(url, field)),
      ...(condition === undefined ? {} : { if: conditionOf(condition) }),
      ...(params.get("fit") === "crop" ? { fit: "crop" } : {}),
      ...(offsets === undefined || offsets.length === 0 ? {} : { offsets }),
      ...(image === undefined ? {} : { watermark: watermarkOf(image, params.get("watermark_position")) }),
      ...rest,
      ...(isAnimated
        ? sceneOf(number, duration)
        : { ...(number === undefined ? {} : { number }), ...(duration === undefined ? {} : { duration }) }),
    },
    field,
  );
}

const numberOf = (text: string): unknown => (text !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

const POSITIONS = ["topleft", "topright", "bottomleft", "bottomright"];
const watermarkOf = (url: string, position: string | undefined): Json =>
  position !== undefined && POSITIONS.includes(position) ? { url, position } : { url };

function sceneOf(number: unknown, duration: unknown): Json {
  if (number === undefined && duration === undefined) return {};
  return { scene: { ...(number === undefined ? {} : { number }), ...(duration === undefined ? {} : { duration }) } };
}

/** Names of encoders were codecs. */
const renamed = (format: string): string =>
  format.replaceAll(/(?<=[:_])x264(?=[:_]|$)/g, "h264").replaceAll(/(?<=[:_])x265(?=[:_]|$)/g, "hevc");

/** `$source_width >= 1280` is `{{ input.width }} >= 1280`. */
const conditionOf = (text: string): string => text.replaceAll(/\$source_(\w+)/g, "{{ input.$1 }}");

function convertStream(draft: Draft, url: string, params: ReadonlyMap<string, string>): void {
  const field = "-> httpstream";
  const path = draft.outputPath(url, field).replace(/^\/+|(?<!\/)\/+$/g, "");
  const folder = (name: string): string =>
    params.get(name)?.replace(/^\/+|(?<!\/)\/+$/g, "") || name.replace(/\+.*/, "");
  const key = params.get("hls_encryption_key");
  const uri = params.get("hls_encryption_key_uri");
  const condition = params.get("if");
  const dash = params.has("dash+hlsfmp4") ? "dash+hlsfmp4" : "dash";
  const variants = params
    .get("variants")
    ?.split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  const names = [
    "if",
    "hls",
    "dash",
    "dash+hlsfmp4",
    "variants",
    "playlist_name",
    "hls_encryption_key",
    "hls_encryption_key_uri",
  ];
  for (const name of params.keys()) {
    if (!names.includes(name)) draft.lost(`${field}, ${name}`, "there is no such parameter");
  }
  draft.output(
    "httpstream",
    {
      ...(path === "" ? {} : { path }),
      ...(condition === undefined ? {} : { if: conditionOf(condition) }),
      ...(params.has("hls") ? { hls: { path: folder("hls") } } : {}),
      ...(params.has(dash) ? { dash: { path: folder(dash), ...(dash === "dash" ? {} : { hlsfmp4: true }) } } : {}),
      ...(variants === undefined ? {} : { variants: variants.filter((one) => one !== "mp4:x").map(renamed) }),
      ...(params.has("playlist_name") ? { playlist_name: params.get("playlist_name") } : {}),
      ...(uri === undefined ? {} : { encryption: { ...(key === undefined ? {} : { key }), key_uri: uri } }),
    },
    field,
  );
}
