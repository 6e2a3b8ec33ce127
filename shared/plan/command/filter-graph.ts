// Writes the filters of an output as the text of `-filter_complex`.
import { chainText, drawsTimecode } from "./filter-text.ts";

/**
 * A filter with its options as ffmpeg writes it, an overlay image, a palette made of the frames themselves, or a backdrop.
 */
export type Filter = string | Overlay | PaletteFilter | Backdrop | OnBackdrop;

/** An image that is laid over the frames. */
export type Overlay = {
  /** Null: the first of `imageFilters` reads the images. */
  readonly imageUrl: string | null;
  /** Filters that prepare the image. */
  readonly imageFilters: readonly string[];
  /** The `overlay` filter; its inputs are the frames and the image. */
  readonly overlay: string;
};

/** Frames that get a palette made of themselves. */
export type PaletteFilter = {
  readonly paletteFilters: readonly string[];
  /** The `paletteuse` filter; its inputs are the frames and the palette. */
  readonly use: string;
};

/** Copies the frames for a backdrop. The next filters change only the frames themselves. */
export type Backdrop = { readonly backdropFilters: readonly string[] };

/** The `overlay` filter that lays the frames on their backdrop. */
export type OnBackdrop = { readonly onBackdrop: string };

/** Filters of an output, in order. `label` names the end, for `-map "[label]"`. */
export type Branch = { readonly label: string; readonly filters: readonly Filter[] };

/** The name of a filter and the names of the filters that prepare its other input. */
export function filterNames(filter: Filter): string[] {
  if (typeof filter === "string") return [nameOf(filter)];
  if (isOverlay(filter)) return [...filter.imageFilters, filter.overlay].map(nameOf);
  if ("backdropFilters" in filter) return filter.backdropFilters.map(nameOf);
  return ("use" in filter ? [...filter.paletteFilters, filter.use] : [filter.onBackdrop]).map(nameOf);
}

/** True if the filters draw timecodes. */
export const hasTimecode = (filters: readonly Filter[]): boolean =>
  filters.some((filter) => typeof filter === "string" && drawsTimecode(filter));

const nameOf = (filter: string): string => filter.split("=", 1)[0] ?? filter;

/** Input number of each overlay image, by the image's URL. */
export type OverlayInputs = ReadonlyMap<string, number>;

/** URLs of all overlay images in the branches, without duplicates. */
export const overlayUrls = (branches: readonly Branch[]): string[] => [
  ...new Set(
    branches.flatMap(({ filters }) => filters.flatMap((filter) => (isOverlay(filter) ? (filter.imageUrl ?? []) : []))),
  ),
];

/**
 * Returns the filters of a branch as a graph from `start` to the branch's label.
 * Each branch has its own graph. If a graph has several sinks, ffmpeg 7 serves the sink that is furthest behind
 * until it has a frame. Meanwhile ffmpeg keeps all frames of the other sinks in memory. A video of 1280×720 beside
 * sprite sheets took 536 MB in a single graph and 74 MB in two graphs.
 * Throws for a filter that plans do not use, and for text that holds several filters.
 */
export function branchGraph(start: string, { label, filters }: Branch, overlays: OverlayInputs): string {
  const chains: string[] = [];
  let from = start;
  let chain: string[] = [];
  for (const filter of filters) {
    if (typeof filter === "string") {
      chain.push(filter);
    } else if (isOverlay(filter)) {
      const name = `${label}${chains.length === 0 ? "" : chains.length}`;
      chains.push(...overlayChains(`${from}${chainText(chain) || "null"}`, filter, name, overlays));
      from = `[${name}base][${name}overlay]`;
      chain = [filter.overlay];
    } else if ("backdropFilters" in filter) {
      chains.push(
        `${from}${splitText(chain)}[${label}copy][${label}front]`,
        `[${label}copy]${chainText(filter.backdropFilters)}[${label}back]`,
      );
      from = `[${label}front]`;
      chain = [];
    } else if ("onBackdrop" in filter) {
      if (chain.length > 0) chains.push(`${from}${chainText(chain)}[${label}drawn]`);
      from = `[${label}back]${chain.length > 0 ? `[${label}drawn]` : from}`;
      chain = [filter.onBackdrop];
    } else {
      chains.push(...paletteChains(`${from}${splitText(chain)}`, filter, label));
      from = `[${label}use][${label}pal]`;
      chain = [filter.use];
    }
  }
  return [...chains, `${from}${chainText(chain)}[${label}]`].join(";");
}

/**
 * Options for graphs. Those with `drawtext` become a single graph: ffmpeg 7 runs each graph in its own thread, and
 * HarfBuzz before September 2026 corrupts the memory when two threads use its functions for FreeType (harfbuzz issue
 * 6224). Graphs with different starts should not be joined, see `branchGraph`.
 */
export const graphArguments = (graphs: readonly string[]): string[] =>
  [...Map.groupBy(graphs, (graph) => drawsTimecode(graph) || graph).values()].flatMap((joined) => [
    "-filter_complex",
    joined.join(";"),
  ]);

const splitText = (chain: readonly string[]): string => `${chain.length === 0 ? "" : `${chainText(chain)},`}split`;

/** Chains that produce the two inputs of an `overlay` filter. */
function overlayChains(base: string, { imageUrl, imageFilters }: Overlay, label: string, overlays: OverlayInputs) {
  const input = imageUrl === null ? null : overlays.get(imageUrl);
  if (input === undefined) throw new Error("An overlay image has no input");
  const start = input === null ? "" : `[${input}:v:0]`;
  return [`${base}[${label}base]`, `${start}${chainText(imageFilters)}[${label}overlay]`];
}

/** Chains that produce the two inputs of a `paletteuse` filter. */
const paletteChains = (split: string, { paletteFilters }: PaletteFilter, label: string): string[] => [
  `${split}[${label}gen][${label}use]`,
  `[${label}gen]${chainText(paletteFilters)}[${label}pal]`,
];

export const isOverlay = (filter: Filter): filter is Overlay => typeof filter !== "string" && "imageUrl" in filter;
