// One decode feeding many outputs: branches of filters joined into the text of `-filter_complex`.

/** The filters of one output, in order; `label` names the end that `-map "[label]"` takes. */
export type Branch = { readonly label: string; readonly filters: readonly string[] };

/** The graph that leads one stream of input 0 through all branches. */
export function filterGraph(streamIndex: number, branches: readonly Branch[]): string {
  const source = `[0:${streamIndex}]`;
  const [only, ...more] = branches;
  if (only && more.length === 0) return chain(source, only);
  const starts = branches.map((branch) => `[${branch.label}in]`);
  const split = `${source}split=${branches.length}${starts.join("")}`;
  return [split, ...branches.map((branch, at) => chain(starts[at] ?? "", branch))].join(";");
}

function chain(start: string, branch: Branch): string {
  return `${start}${branch.filters.join(",")}[${branch.label}]`;
}
