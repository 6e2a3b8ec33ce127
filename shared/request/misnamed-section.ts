// Errors for sections that are missing because of a wrong name: they suggest the property that is probably meant.

import { excerpt } from "../excerpt.ts";
import { nearest } from "../nearest.ts";
import { err, type Result } from "../result.ts";

const SECTIONS = ["input", "storage", "outputs", "notification", "settings"];

/** Names of sections in API v1 and in other services. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["webhook", "notification"],
  ["callback", "notification"],
  ["notify", "notification"],
  ["destination", "storage"],
  ["formats", "outputs"],
]);

/** Adds the probable property to the error about a missing section. Returns other results unchanged. */
export function suggestSection<Value>(
  parsed: Result<Value>,
  section: string,
  body: Readonly<Record<string, unknown>>,
): Result<Value> {
  if (parsed.ok || body[section] !== undefined) return parsed;
  const name = Object.keys(body).find((member) => isMeant(member, section));
  if (name === undefined) return parsed;
  const version = name === "webhook" ? " of API v1" : "";
  const message = `${parsed.error.message} (the body has \`${excerpt(name)}\`${version} instead)`;
  return err({ ...parsed.error, message });
}

const isMeant = (member: string, section: string): boolean =>
  !SECTIONS.includes(member) && (OTHER_NAMES.get(member.toLowerCase()) ?? nearest(member, SECTIONS)) === section;
