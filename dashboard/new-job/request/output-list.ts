// The outputs of a request as a list with formats, and with the names that error messages use.
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  isTextContainer,
  VIDEO_CONTAINERS,
} from "../../../shared/format/containers.ts";
import type { Json } from "../secrets.ts";
import { isObject } from "./edit.ts";

export type Output = {
  /** The property name in `outputs` as the request spells it. */
  readonly format: string;
  /** The parameters. A value that is not an object stays until a parameter is set. */
  readonly params: unknown;
  /** True for an output in an array, even alone: its key has a number. */
  readonly isListed?: boolean;
};
export type NamedOutput = Output & {
  /** The name in error messages and keys: `mp4:720p`, or `mp4:720p:2` in an array. */
  readonly name: string;
};

/** The outputs in the order of the request. */
export function outputList(outputs: unknown): NamedOutput[] {
  if (!isObject(outputs)) return [];
  return Object.entries(outputs).flatMap(([format, entry]) =>
    Array.isArray(entry)
      ? entry.map((params: unknown, at) => ({ format, params, isListed: true, name: `${format}:${at + 1}` }))
      : [{ format, params: entry, name: format }],
  );
}

/** The `outputs` section of a request. Outputs with the same format become an array, at the place of the first. */
export function outputsSection(list: readonly Output[]): Json {
  const byFormat = Map.groupBy(list, ({ format }) => format);
  return Object.fromEntries(
    [...byFormat].map(([format, same]) => [
      format,
      same.length === 1 && !same[0]?.isListed ? same[0]?.params : same.map(({ params }) => params),
    ]),
  );
}

export type OutputKind = "video" | "audio" | "image" | "animated" | "text" | "stream";

/** The kind of an output, which decides its parameters. */
export function kindOf(format: string): OutputKind {
  const [name = "", ...segments] = format.toLowerCase().split(":");
  if (name === "httpstream") return "stream";
  const container = CONTAINERS_BY_NAME.get(name) ?? "mp4";
  if (isTextContainer(container)) return "text";
  if (isImageContainer(container)) return IMAGE_CONTAINER_TRAITS[container].animated ? "animated" : "image";
  const isVideo = VIDEO_CONTAINERS.some((video) => video === container);
  return isVideo && segments[0] !== "x" && segments[0] !== "novideo" ? "video" : "audio";
}

const EXTENSIONS: Readonly<Record<string, string>> = { mpegts: "ts", asf: "wmv", webp_anim: "webp", jpeg: "jpg" };

/** A file name for a new output that no other output has. */
export function newPath(format: string, list: readonly Output[]): string {
  const [container = "mp4", ...segments] = format.split(":");
  const detail = segments
    .join("-")
    .replaceAll(/[^A-Za-z0-9]+/g, "-")
    .replaceAll(/^-+|(?<!-)-+$/g, "");
  const counter = kindOf(format) === "image" ? "-%02d" : "";
  const stem = detail === "" ? "video" : `video-${detail}`;
  const taken = new Set(list.map(({ params }) => (isObject(params) ? stemOf(String(params.path)) : undefined)));
  for (let number = 1; ; number += 1) {
    const path = `${stem}${number === 1 ? "" : `-${number}`}${counter}.${EXTENSIONS[container] ?? container}`;
    if (!taken.has(stemOf(path))) return path;
  }
}

/** The name of an image's WebVTT file: without counter and extension. */
const stemOf = (path: string): string => path.replace(/(?:-%0\dd)?\.[^./]*$/, "");

/** Outputs that people add with a button. */
export const NEW_OUTPUTS: readonly { readonly label: string; readonly format: string; readonly params: Json }[] = [
  { label: "Video", format: "mp4:720p", params: {} },
  { label: "Audio", format: "m4a:128k", params: {} },
  { label: "Thumbnails", format: "jpg:320x", params: { number: 5 } },
  { label: "Preview", format: "gif:320x", params: { scene: { number: 3, duration: 1 } } },
  { label: "Stream", format: "httpstream", params: { hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true } } },
];

/** The list with an additional output. */
export function withOutput(list: readonly Output[], format: string, params: Json): Output[] {
  if (kindOf(format) !== "stream") return [...list, { format, params: { path: newPath(format, list), ...params } }];
  const others = list.filter((output) => kindOf(output.format) === "stream").length;
  return [...list, { format, params: { ...(others === 0 ? {} : { path: `stream-${others + 1}` }), ...params } }];
}
