// Builds the package @copra/client: bundles, and declarations that refer to nothing outside of it.
import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
export const CLIENT = join(ROOT, "client");
/** The entries of the package (`exports` in client/package.json). */
const ENTRIES = ["index", "admin", "node", "webhook"];

/** Builds the package into a folder, and replaces its content. */
export async function buildClient(folder: string): Promise<void> {
  const dist = join(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await build({
    entryPoints: ENTRIES.map((entry) => join(CLIENT, `${entry}.ts`)),
    outdir: dist,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["node:*"],
    chunkNames: "[name]-[hash]",
    logLevel: "error",
  });
  await promisify(execFile)(execPath, [join(ROOT, "local/client/write-types.ts")], { cwd: ROOT });
  const declare = ["--declaration", "--emitDeclarationOnly", "--composite", "false", "--outDir", dist];
  const tsc = [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", CLIENT, ...declare];
  await promisify(execFile)(execPath, tsc, { cwd: ROOT });
  await Promise.all((await readdir(dist, { recursive: true })).map((file) => nameModules(join(dist, file))));
  if (folder === CLIENT) return;
  await Promise.all(["package.json", "README.md"].map((file) => cp(join(CLIENT, file), join(folder, file))));
  await cp(join(ROOT, "LICENSE"), join(folder, "LICENSE"));
}

/** Declarations import source files by name; a package has no source files. */
async function nameModules(file: string): Promise<void> {
  if (!file.endsWith(".d.ts")) return;
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(/((?:from |import\()"\.\.?\/[^"]+)\.ts"/g, '$1.js"'));
}

/** The minified code of an entry with its imports, as a page loads it. */
export async function bundled(entry: string): Promise<string> {
  const options = { bundle: true, minify: true, write: false, format: "esm", target: "es2022" } as const;
  const { outputFiles } = await build({ ...options, entryPoints: [join(CLIENT, `${entry}.ts`)] });
  return outputFiles[0]?.text ?? "";
}

if (import.meta.main ?? process.argv[1] === fileURLToPath(import.meta.url))
  await buildClient(process.argv[2] ?? CLIENT);
