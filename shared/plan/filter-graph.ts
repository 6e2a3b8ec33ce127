// The filters of one output as the text of `-filter_complex`.

/** One filter with its options as ffmpeg writes it, or a picture that is laid over what comes along. */
export type Filter = string | Overlay;

/** A watermark on its way into a branch. */
export type Overlay = {
  /** Which picture, by its URL. */
  readonly mark: string;
  /** What happens to the mark before. */
  readonly markFilters: readonly string[];
  /** The filter of two inputs, picture and mark. */
  readonly lay: string;
};

/** The filters of one output, in order; `label` names the end that `-map "[label]"` takes. */
export type Branch = { readonly label: string; readonly filters: readonly Filter[] };

/** The input that holds a mark, by the mark's URL. */
export type MarkInputs = ReadonlyMap<string, number>;

/** URLs of the marks that branches lay over their pictures, each once. */
export const marksOf = (branches: readonly Branch[]): string[] => [
  ...new Set(branches.flatMap(({ filters }) => filters.flatMap((filter) => (isOverlay(filter) ? filter.mark : [])))),
];

/**
 * The filters of a branch as a graph, from `start` to the branch's label. Each branch has a graph to itself: of several sinks
 * in one graph ffmpeg 7 serves the one that is furthest behind until it has a frame, and keeps all frames of the others in
 * memory meanwhile. A film of 1280×720 beside sheets of pictures took 536 MB in one graph, and 74 MB in two.
 */
export function branchGraph(start: string, { label, filters }: Branch, marks: MarkInputs): string {
  const at = filters.findIndex(isOverlay);
  const overlay = filters[at];
  if (overlay === undefined || !isOverlay(overlay)) return `${start}${filters.join(",")}[${label}]`;
  const [picture, mark] = [`[${label}picture]`, `[${label}mark]`];
  const input = marks.get(overlay.mark);
  if (input === undefined) throw new Error("A mark has no input");
  return [
    `${start}${filters.slice(0, at).join(",") || "null"}${picture}`,
    `[${input}:v:0]${overlay.markFilters.join(",")}${mark}`,
    `${picture}${mark}${[overlay.lay, ...filters.slice(at + 1)].join(",")}[${label}]`,
  ].join(";");
}

const isOverlay = (filter: Filter): filter is Overlay => typeof filter !== "string";
