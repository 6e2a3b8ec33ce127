// Keeps the code of the first page in one chunk.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** Pages that app.tsx loads with `import()`. */
const LATER = /[\\/](job|new-job|templates|nodes|usage|settings)-page\.tsx$/;

/**
 * esbuild makes a chunk for each set of pages that share a file. That gives a dozen chunks for the first page, and
 * browsers load six at the same time over HTTP/1.1. The first page is always loaded before the others, so the others
 * import all of it: then all its files have the same set.
 */
export const ONE_CHUNK: Plugin = {
  name: "one-chunk",
  setup({ onLoad }) {
    onLoad({ filter: LATER }, async ({ path }) => {
      return { contents: `${await readFile(path, "utf8")}\nimport "../app/app.tsx";\n`, loader: "tsx" };
    });
  },
};
