// The outputs of a request as a list with formats, and with the names that error messages use.
import {
  CONTAINERS_BY_NAME,
  IMAGE_CONTAINER_TRAITS,
  isImageContainer,
  isTextContainer,
  VIDEO_CONTAINERS,
} from "../../../shared/format/containers.ts";
import type { Json } from "../secrets.ts";
import { isObject, textAt, valueAt } from "./edit.ts";

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

/** The name of an image's WebVTT file: without counter and extension. */
const stemOf = (path: string): string => path.replace(/(?:-%0\dd)?\.[^./]*$/, "");

/** A path that no other output has: with a number if necessary. */
function freePath(path: string, list: readonly Output[]): string {
  const taken = new Set(list.map(({ params }) => stemOf(String(valueAt(params, ["path"])))));
  const stem = stemOf(path);
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.has(numbered)) return numbered + path.slice(stem.length);
  }
}

export type NewOutput = { readonly format: string; readonly params: Json & { readonly path: string } };

/** The list with an additional output. `before`: parameters of the output that it replaces. */
export function withOutput(list: readonly Output[], { format, params }: NewOutput, before?: unknown): Output[] {
  const path = textAt(before, ["path"]) || freePath(params.path, list);
  return [...list, { format, params: { ...(isObject(before) ? before : {}), ...params, path } }];
}
