// Builds the dashboard: hashed bundles in assets/, and the page that loads them.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DASHBOARD = join(ROOT, "dashboard");
/** `[assets]` in wrangler.toml. */
export const DIST = join(ROOT, "dist/dashboard");

/** Builds the dashboard into a folder, which is replaced. */
export async function buildDashboard(folder = DIST): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(DASHBOARD, "main.tsx")],
    outdir: join(folder, "assets"),
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    metafile: true,
    logLevel: "error",
  });
  const files = Object.entries(metafile.outputs);
  const [script, { cssBundle } = {}] = files.find(([, output]) => output.entryPoint?.endsWith("main.tsx")) ?? [];
  if (script === undefined || cssBundle === undefined) throw new Error("The build of the dashboard has no entry");
  const style = `<link rel="stylesheet" href="/assets/${basename(cssBundle)}">`;
  const load = `<script type="module" src="/assets/${basename(script)}"></script>`;
  const shell = await readFile(join(DASHBOARD, "shell.html"), "utf8");
  await writeFile(join(folder, "shell.html"), shell.replace("<div", `${style}\n${load}\n<div`));
}

if (import.meta.main ?? process.argv[1] === fileURLToPath(import.meta.url)) await buildDashboard();
