// Which hubs there are: each holds the sockets of a part of a pool's nodes. The operator lays them out in HUBS.
import { DEFAULT_POOL, PoolName } from "#shared/placement.ts";

/** Where Cloudflare can be asked to create an object, with about the middle of each region: latitude, longitude. */
const LOCATIONS = {
  wnam: [40, -118],
  enam: [40, -80],
  sam: [-20, -50],
  weur: [49, 3],
  eeur: [50, 22],
  apac: [20, 105],
  "apac-ne": [36, 135],
  "apac-se": [3, 104],
  oc: [-33, 148],
  afr: [0, 25],
  me: [27, 48],
} as const satisfies Record<DurableObjectLocationHint, readonly [number, number]>;

/** Hubs of one pool in one region; null: where Cloudflare creates them, near whoever calls first. */
export type HubGroup = {
  readonly pool: string;
  readonly location: DurableObjectLocationHint | null;
  readonly count: number;
};
export type HubLayout = readonly HubGroup[];

/** The hub of a service without a layout, and of leases that were stored before a lease named its hub. */
export const FIRST_HUB = `hub:${DEFAULT_POOL}:0`;

/** Degrees, as Cloudflare reports them of a request. */
export type Position = { readonly latitude: number; readonly longitude: number };

const MAX_HUBS = 64;
const LAYOUT_HELP =
  "HUBS must be a list such as default@weur*3,default@enam,gpu: a pool, @ and a region, * and a number";

/** Parses HUBS, such as `default@weur*3,default@enam*2,gpu`. Throws an error for the operator. */
export function parseHubLayout(text: string): HubLayout {
  const groups = text.split(",").flatMap((entry): HubGroup[] => {
    if (entry.trim() === "") return [];
    const [, pool = "", at, times] = /^\s*([a-z0-9-]+)(?:@([a-z-]+))?(?:\*(\d+))?\s*$/.exec(entry) ?? [];
    const count = Number(times ?? 1);
    if (!PoolName.safeParse(pool).success || count < 1 || count > MAX_HUBS) throw new Error(LAYOUT_HELP);
    if (at !== undefined && !isLocation(at)) {
      throw new Error(`${LAYOUT_HELP}; \`${at}\` is none of the regions ${Object.keys(LOCATIONS).join(", ")}`);
    }
    return [{ pool, location: at ?? null, count }];
  });
  const names = groups.map(({ pool, location }) => `${pool}@${location}`);
  if (new Set(names).size < names.length) throw new Error(`${LAYOUT_HELP}; each pool and region at most once`);
  return groups;
}

const isLocation = (text: string): text is DurableObjectLocationHint => Object.hasOwn(LOCATIONS, text);

/** The groups of a pool, the nearest to a position first. A pool that is not laid out has one hub. */
export function groupsOf(layout: HubLayout, pool: string, near: Position | null = null): readonly HubGroup[] {
  const groups = layout.filter((group) => group.pool === pool);
  if (groups.length === 0) return [{ pool, location: null, count: 1 }];
  if (near === null) return groups;
  return groups.toSorted((one, other) => distance(one, near) - distance(other, near));
}

/** The pools that have a hub: those laid out, and the default one. */
export const poolsOf = (layout: HubLayout): string[] => [...new Set([DEFAULT_POOL, ...layout.map(({ pool }) => pool)])];

/** The names of a group's hubs. Without a region they are those of a service that has no layout. */
export const namesOf = ({ pool, location, count }: HubGroup): string[] =>
  Array.from({ length: count }, (_, shard) => ["hub", pool, ...(location === null ? [] : [location]), shard].join(":"));

/** The pool in a hub's name. */
export const poolOf = (name: string): string => name.split(":")[1] ?? DEFAULT_POOL;

/** The region in a hub's name. */
export function locationOf(name: string): DurableObjectLocationHint | null {
  const [, , location = ""] = name.split(":");
  return isLocation(location) ? location : null;
}

/**
 * The names in the order in which a key prefers them (rendezvous hashing): when one is added or removed, only the keys
 * that prefer it move.
 */
export const rendezvous = (names: readonly string[], key: string): string[] =>
  names.toSorted((one, other) => hash(`${other}|${key}`) - hash(`${one}|${key}`) || (one < other ? -1 : 1));

/** The name that a key prefers to all others; null if there are none. */
export function preferredOf(names: readonly string[], key: string): string | null {
  let preferred: { readonly name: string; readonly weight: number } | null = null;
  for (const name of names) {
    const weight = hash(`${name}|${key}`);
    const isBetter = !preferred || weight > preferred.weight || (weight === preferred.weight && name < preferred.name);
    if (isBetter) preferred = { name, weight };
  }
  return preferred?.name ?? null;
}

/** FNV-1a with a final mix (MurmurHash3's), 32 bits: similar names give unrelated numbers. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Of a group from a position, along a great circle, as 0 to 2. Groups without a region come last. */
function distance({ location }: HubGroup, { latitude, longitude }: Position): number {
  if (location === null) return 3;
  const [north, east] = LOCATIONS[location].map(radians) as [number, number];
  const [from, to] = [radians(latitude), radians(longitude)];
  return 1 - (Math.sin(from) * Math.sin(north) + Math.cos(from) * Math.cos(north) * Math.cos(to - east));
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180;
