// Requirements of tasks, and profiles of nodes. A fleet has few of both, so they are compared in pairs instead of each
// task with each node.
import * as z from "zod";
import { Capabilities } from "./capabilities.ts";
import { Need } from "./needs.ts";

/** Properties that a node must have to get a task. */
export const Requirements = z.object({
  pool: z.string(),
  /** All labels are required; sorted, without duplicates. */
  labels: z.array(z.string()).readonly(),
  /** All needs are required; sorted, without duplicates. */
  needs: z.array(Need).readonly(),
});
export type Requirements = z.infer<typeof Requirements>;

/** Returns a key of requirements. Equal requirements have the same key, in any order. */
export function signatureOf({ pool, labels, needs }: Requirements): string {
  const names = needs.map(({ kind, anyOf }) => `${kind}=${[...new Set(anyOf)].sort().join("|")}`);
  return [pool, ...[...new Set(labels)].sort().map((label) => `@${label}`), ...[...new Set(names)].sort()].join(" ");
}

/** Properties of a node that decide which work it gets. Many nodes have the same profile. */
export const Profile = z.object({
  pool: z.string(),
  /** Location of the node: the value of its label `region:…`. */
  region: z.string().nullable(),
  /** Labels of the node and of its token; sorted, without duplicates. */
  labels: z.array(z.string()),
  capabilities: Capabilities.omit({ ffmpegVersion: true, cpus: true, isolation: true }),
  /** True if the machine may be taken away at any time. */
  spot: z.boolean(),
});
export type Profile = z.infer<typeof Profile>;

const REGION = "region:";

/** Returns a node's profile from the properties of its token and its own report. */
export function profileOf(
  { pool, labels, spot }: Pick<Profile, "pool" | "spot"> & { readonly labels: readonly string[] },
  { encoders, muxers, filters, hardware, fonts, folders, decoders }: Capabilities,
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
      ...(fonts ? { fonts: sorted(fonts) } : {}),
      ...(folders ? { folders: folders.toSorted((a, b) => (a.name < b.name ? -1 : 1)) } : {}),
      ...(decoders ? { decoders: sorted(decoders) } : {}),
      // Nodes with the same device at different paths share a profile.
      hardware: hardware && { ...hardware, path: null, encoders: sorted(hardware.encoders) },
    },
    spot,
  };
}

/** Returns a key of a profile. Nodes with equal profiles have the same key. */
export const profileKey = ({ pool, region, labels, capabilities, spot }: Profile): string => {
  const { encoders, muxers, filters, hardware, fonts, folders, decoders } = capabilities;
  const names = [encoders, muxers, filters, fonts, folders, decoders];
  return JSON.stringify([pool, region, labels, names, hardware, spot]);
};
