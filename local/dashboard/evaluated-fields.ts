// Replaces the module with the fields of the schemas by its values, so that pages need neither zod nor the schemas.
import { build, type Plugin } from "esbuild";

const BUNDLE = { bundle: true, write: false, metafile: true, format: "esm", platform: "node" } as const;

/** `inputs`: receives the sources of the values, relative to the root. */
export const evaluatedFields = (root: string, inputs: Set<string>): Plugin => ({
  name: "evaluated-fields",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]schema-fields\.ts$/ }, async ({ path }) => {
      const { outputFiles, metafile } = await build({ ...BUNDLE, entryPoints: [path], absWorkingDir: root });
      // As a URL of data, the module is new in each build. Node would keep a file's first version.
      const { FIELDS } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? "")}`);
      for (const source of Object.keys(metafile.inputs)) inputs.add(source);
      const contents = `export const FIELDS = JSON.parse(${JSON.stringify(JSON.stringify(FIELDS))});`;
      return { contents, loader: "js" };
    });
  },
});
