// What a task requires of a node, and what a node has. Both are few in a fleet, so that they are compared in pairs
// instead of each task with each node.
import * as z from "zod";
import { DEFAULT_POOL } from "../placement.ts";
import { Capabilities } from "./capabilities.ts";
import { Need } from "./needs.ts";

/** What a node must have to get a task. */
export const Requirements = z.object({
  pool: z.string(),
  /** All of them; sorted, each once. */
  labels: z.array(z.string()).readonly(),
  /** All of them; sorted, each once. */
  needs: z.array(Need).readonly(),
});
export type Requirements = z.infer<typeof Requirements>;

/** The requirements of tickets that were stored before there were any, and of jobs of the previous release. */
export const NO_REQUIREMENTS: Requirements = { pool: DEFAULT_POOL, labels: [], needs: [] };

/** A key of requirements: equal for those that require the same, in whatever order. */
export function signatureOf({ pool, labels, needs }: Requirements): string {
  const names = needs.map(({ kind, anyOf }) => `${kind}=${[...new Set(anyOf)].sort().join("|")}`);
  return [pool, ...[...new Set(labels)].sort().map((label) => `@${label}`), ...[...new Set(names)].sort()].join(" ");
}

/** What a node has, as far as it decides what work the node gets. Many nodes have the same. */
export const Profile = z.object({
  pool: z.string(),
  /** Where it is: the value of its label `region:…`. */
  region: z.string().nullable(),
  /** Of its token and its own; sorted, each once. */
  labels: z.array(z.string()),
  capabilities: Capabilities.pick({ encoders: true, muxers: true, filters: true, hardware: true }),
  /** True if its machine may be taken away at any time. */
  spot: z.boolean(),
});
export type Profile = z.infer<typeof Profile>;

const REGION = "region:";

/** A node's profile, from what its token binds and what it reports. */
export function profileOf(
  {
    pool,
    labels,
    spot = false,
  }: { readonly pool: string; readonly labels: readonly string[]; readonly spot?: boolean },
  { encoders, muxers, filters, hardware }: Capabilities,
): Profile {
  const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();
  const region = labels.find((label) => label.startsWith(REGION))?.slice(REGION.length) ?? null;
  return {
    pool,
    region,
    labels: sorted(labels),
    capabilities: {
      encoders: sorted(encoders),
      muxers: sorted(muxers),
      filters: sorted(filters),
      // Nodes with the same device at different paths are alike.
      hardware: hardware && { ...hardware, path: null, encoders: sorted(hardware.encoders) },
    },
    spot,
  };
}

/** A key of a profile: equal for nodes that have the same. */
export const profileKey = ({ pool, region, labels, capabilities, spot }: Profile): string => {
  const { encoders, muxers, filters, hardware } = capabilities;
  return JSON.stringify([pool, region, labels, encoders, muxers, filters, hardware, spot]);
};
