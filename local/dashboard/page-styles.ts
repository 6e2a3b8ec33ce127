// The styles of the dashboard: those of the first page, and those of pages that are loaded later with their scripts.
import { basename } from "node:path";
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from "esbuild";

export type PageStyles = {
  readonly files: readonly OutputFile[];
  /** The file of the first page. */
  readonly first: string;
  /** Those of other pages, by the names of their scripts, such as `job-page`. */
  readonly later: Readonly<Record<string, string>>;
};

/** Leaves out what is imported by `import()`: esbuild puts the styles of all that into those of the entry. */
const WITHOUT_LATER: Plugin = {
  name: "without-later",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === "dynamic-import" ? { path, external: true } : undefined));
  },
};

/** Builds the styles; `metafile` and `outputFiles` are those of the scripts, with the same options. */
export async function buildStyles(
  options: BuildOptions,
  { metafile, outputFiles }: { readonly metafile: Metafile; readonly outputFiles: readonly OutputFile[] },
): Promise<PageStyles> {
  const own = await build({ ...options, write: false, metafile: false, plugins: [WITHOUT_LATER] });
  const first = own.outputFiles.find(({ path }) => path.endsWith(".css"));
  if (!first) throw new Error("The dashboard has no styles");
  const later = Object.values(metafile.outputs).flatMap(({ entryPoint, cssBundle }) => {
    const name = entryPoint === undefined ? "" : basename(entryPoint).replace(/\.\w+$/, "");
    return cssBundle === undefined || name === "main" ? [] : [[name, basename(cssBundle)] as const];
  });
  const names = new Set(later.map(([, file]) => file));
  const files = [first, ...outputFiles.filter(({ path }) => names.has(basename(path)))];
  return { files, first: basename(first.path), later: Object.fromEntries(later) };
}
