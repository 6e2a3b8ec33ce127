// The lists that people choose the parts of a format from.
import { CONTAINERS_BY_NAME } from "../../../shared/format/containers.ts";
import { choices, partsOf, withSpecs } from "../../../shared/format/format-parts.ts";
import type { SpecName } from "../../../shared/format/grammar/requested-specs.ts";
import { tokenOf } from "../../../shared/format/grammar/segments.ts";
import { printParts } from "../../../shared/format/print-format.ts";

/** The specs of each list. A format has at most one of them. */
const SLOTS = {
  size: ["resolution"],
  codec: ["video_codec"],
  rate: ["quality", "video_bitrate"],
  cap: ["maxrate"],
  fps: ["fps"],
  audio: ["audio_codec"],
  audioRate: ["audio_bitrate"],
  channels: ["audio_channel"],
} as const satisfies Record<string, readonly SpecName[]>;
export type Slot = keyof typeof SLOTS;

/** The token of a list; empty if the format leaves it to its default. */
export function slotOf(format: string, slot: Slot): string {
  const { specs } = partsOf(format);
  const spec = SLOTS[slot].find((name) => specs.has(name));
  return spec === undefined ? "" : tokenOf(spec, specs.get(spec) ?? "");
}

/** The format with another token of a list; empty for the default. */
export function withSlot(format: string, slot: Slot, token: string): string {
  const changes = SLOTS[slot].map((spec) => {
    // Of two specs, one is an option: `quality=4` and `2000k`.
    const value = /^[a-z]+=(.*)$/.exec(token)?.[1] ?? token;
    return [spec, token !== "" && tokenOf(spec, value) === token ? value : undefined] as const;
  });
  return printParts(withSpecs(partsOf(format), new Map(changes)));
}

/** The container as the format spells it. */
export const containerOf = (format: string): string => partsOf(format).name;

/** The format with another container. */
export const withContainer = (format: string, name: string): string =>
  printParts(withSpecs({ ...partsOf(format), name }, new Map()));

/** The tokens of each list, without the default. Lists without tokens are left out. */
export function choicesOf(format: string): Readonly<Partial<Record<Slot, readonly string[]>>> {
  const values = choices(partsOf(format));
  const slots = Object.entries(SLOTS).map(([slot, specs]: [string, readonly SpecName[]]) => [
    slot,
    specs.flatMap((spec) => (values.get(spec) ?? []).map((value) => tokenOf(spec, value))),
  ]);
  return Object.fromEntries(slots.filter(([, tokens]) => tokens?.length));
}

/** All containers, video containers first. */
export const CONTAINER_NAMES: readonly string[] = [...new Set(CONTAINERS_BY_NAME.values())];
