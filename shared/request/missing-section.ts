// What is said of sections that are missing: what they are, and which other member of the body may be meant.
import { nearest } from "../nearest.ts";
import { shown } from "../shown.ts";
import type { Parsed } from "./parse-section.ts";

const SECTIONS = ["input", "storage", "outputs", "notification", "settings"];

/** Names of API v1, and of other services, for sections. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["webhook", "notification"],
  ["callback", "notification"],
  ["notify", "notification"],
  ["destination", "storage"],
  ["formats", "outputs"],
]);

/** Adds to the refusal of a missing section what the body has in its place; all else is left as it is. */
export function withOtherName<Value>(
  parsed: Parsed<Value>,
  section: string,
  body: Readonly<Record<string, unknown>>,
): Parsed<Value> {
  if (parsed.ok || body[section] !== undefined) return parsed;
  const name = Object.keys(body).find((member) => isMeant(member, section));
  if (name === undefined) return parsed;
  const version = name === "webhook" ? " of API v1" : "";
  const message = `${parsed.refusal.message} (the body has \`${shown(name)}\`${version} in its place)`;
  return { ok: false, refusal: { ...parsed.refusal, message } };
}

const isMeant = (member: string, section: string): boolean =>
  !SECTIONS.includes(member) && (OTHER_NAMES.get(member.toLowerCase()) ?? nearest(member, SECTIONS)) === section;
