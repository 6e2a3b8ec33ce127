// Builds the player's page. The build is separate because the page is in a sandboxed frame: shared files would split
// the dashboard into more files.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type BuildOptions, build, type OutputFile } from "esbuild";
import { HLS_CONSTANTS, hlsLight } from "./hls-light.ts";

const PAGE = "dashboard/player/frame/player.html";
const ENTRY = "dashboard/player/frame/main.tsx";

export type PlayerBuild = {
  /** Scripts and styles. */
  readonly files: readonly OutputFile[];
  readonly page: string;
  /** The source files, relative to the root of the repository. */
  readonly inputs: readonly string[];
};

/** Builds the player with the options of the dashboard. `root`: the root of the repository. Throws esbuild's error. */
export async function buildPlayer(root: string, options: BuildOptions): Promise<PlayerBuild> {
  const { metafile, outputFiles = [] } = await build({
    ...options,
    metafile: true,
    entryPoints: [join(root, ENTRY)],
    entryNames: "player-[hash]",
    legalComments: "none",
    define: HLS_CONSTANTS,
    plugins: [hlsLight],
    // hls.js declares fields again in subclasses, and expects that this does not clear them.
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  });
  const output = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === ENTRY);
  if (!output?.[1].cssBundle) throw new Error("The build of the player has no entry with styles");
  const style = `<link rel="stylesheet" href="/assets/${basename(output[1].cssBundle)}">`;
  // In a frame without an origin, requests for modules are cross-origin.
  const script = `<script type="module" crossorigin="anonymous" src="/assets/${basename(output[0])}"></script>`;
  const page = (await readFile(join(root, PAGE), "utf8")).replace("<div", `${style}\n${script}\n<div`);
  return { files: outputFiles, page, inputs: [...Object.keys(metafile.inputs), PAGE] };
}
