// Ranks the profiles that can do work with certain requirements. Pure.
import { meets } from "#shared/plan/command/capabilities.ts";
import { describeNeeds, missingNeeds } from "#shared/plan/tasks/needs.ts";
import type { Profile, Requirements } from "#shared/protocol/requirements.ts";

/** Preferences of some work beside its requirements. */
export type Preferences = {
  /** The region near its source; null: unknown. */
  readonly near: string | null;
  /** True if the work was lost before: it should go to machines that stay. */
  readonly steady: boolean;
};

/**
 * Rank of a profile for some work: lower is better, null is never. The region counts more than hardware: moving a
 * source over an ocean takes longer than encoding it in software.
 */
export function rankOf(
  { pool, labels, needs }: Requirements,
  { near, steady }: Preferences,
  profile: Profile,
): number | null {
  if (profile.pool !== pool || !labels.every((label) => profile.labels.includes(label))) return null;
  if (missingNeeds(needs, profile.capabilities).length > 0) return null;
  const isFar = near !== null && profile.region !== near;
  return (steady && profile.spot ? 4 : 0) + (isFar ? 2 : 0) + (usesHardware(needs, profile) ? 0 : 1);
}

/** True if a hardware encoder of the profile meets the needs of the work, or if the work needs no encoder. */
function usesHardware(needs: Requirements["needs"], { capabilities }: Profile): boolean {
  const { hardware } = capabilities;
  const encoders = needs.filter(({ kind }) => kind === "encoder");
  if (hardware === null) return encoders.length === 0;
  const ofHardware = { encoders: hardware.encoders, filters: [], muxers: [], hardware: null };
  return encoders.length === 0 || encoders.some((need) => meets(ofHardware, need));
}

/**
 * Names the missing requirements, such as "a node with libsvtav1 in pool default", for the profile that lacks least.
 * Null if some profile can do the work.
 */
export function missingOf(requirements: Requirements, profiles: Iterable<Profile>): string | null {
  let least: { readonly labels: readonly string[]; readonly needs: Requirements["needs"] } | null = null;
  for (const { pool, labels, capabilities } of profiles) {
    if (pool !== requirements.pool) continue;
    const missing = {
      labels: requirements.labels.filter((label) => !labels.includes(label)),
      needs: missingNeeds(requirements.needs, capabilities),
    };
    const count = missing.labels.length + missing.needs.length;
    if (count === 0) return null;
    if (least === null || count < least.labels.length + least.needs.length) least = missing;
  }
  if (least === null) return `a node in pool ${requirements.pool}`;
  const names = [
    ...least.labels.map((label) => `label ${label}`),
    ...(least.needs.length ? [describeNeeds(least.needs)] : []),
  ];
  return `a node with ${names.join(" and ")} in pool ${requirements.pool}`;
}
