// Lets CodeMirror add its styles where the page's policy forbids style elements.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

const SHADOW_ONLY = "!root.head && root.adoptedStyleSheets";

/** style-mod 4.1.5 constructs style sheets only in shadow roots. Browsers with `light-dark()` do in documents, too. */
export const ADOPTED_STYLES: Plugin = {
  name: "adopted-styles",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]style-mod\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!source.includes(SHADOW_ONLY)) throw new Error("style-mod has changed: it would add style elements");
      return { contents: source.replace(SHADOW_ONLY, "root.adoptedStyleSheets"), loader: "js" };
    });
  },
};
