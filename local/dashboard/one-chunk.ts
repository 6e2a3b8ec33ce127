// Keeps what the first page needs in one chunk.
import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** Files that are imported by `import()`, in app.tsx. */
const LATER = /[\\/](job|new-job|nodes|usage|settings)-page\.tsx$/;

/**
 * esbuild makes a chunk for each set of pages that share a file: a dozen for the first page, and browsers load six at a
 * time over HTTP/1.1. The first page is always there before others, so these import all of it, too: then the set
 * is the same for all of its files.
 */
export const ONE_CHUNK: Plugin = {
  name: "one-chunk",
  setup({ onLoad }) {
    onLoad({ filter: LATER }, async ({ path }) => {
      return { contents: `${await readFile(path, "utf8")}\nimport "../app/app.tsx";\n`, loader: "tsx" };
    });
  },
};
