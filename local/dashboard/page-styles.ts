// The styles of the dashboard: for the first page, and for pages that are loaded later with their scripts.
import { basename } from "node:path";
import { type BuildOptions, build, type OutputFile, type Plugin } from "esbuild";

export type PageStyles = {
  readonly files: readonly OutputFile[];
  /** The style sheet of the first page. */
  readonly first: string;
  /** The style sheets of other pages, by the names of their scripts, such as `job-page`. */
  readonly later: Readonly<Record<string, string>>;
};

/** Leaves out dynamic imports: esbuild would put all their styles into the styles of the entry. */
const WITHOUT_LATER: Plugin = {
  name: "without-later",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path }) => (kind === "dynamic-import" ? { path, external: true } : undefined));
  },
};

/** Builds the styles of the first page's script, and of the other pages. Throws esbuild's error. */
export async function buildStyles(options: BuildOptions, first: string, later: readonly string[]): Promise<PageStyles> {
  const entryPoints = [first, ...later];
  const { metafile, outputFiles } = await build({
    ...options,
    entryPoints,
    write: false,
    metafile: true,
    splitting: false,
    plugins: [WITHOUT_LATER],
  });
  const styleOf = (entry: string): string | undefined => {
    const file = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint === entry)?.cssBundle;
    return file && basename(file);
  };
  const firstStyle = styleOf(first);
  if (firstStyle === undefined) throw new Error("The dashboard has no styles");
  const others = later.flatMap((entry) => {
    const file = styleOf(entry);
    return file === undefined ? [] : [[basename(entry).replace(/\.\w+$/, ""), file] as const];
  });
  const names = new Set([firstStyle, ...others.map(([, file]) => file)]);
  const files = outputFiles.filter(({ path }) => names.has(basename(path)));
  return { files, first: firstStyle, later: Object.fromEntries(others) };
}
