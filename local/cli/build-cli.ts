// Builds the package of the command line: a program for Node 20 or newer, without dependencies.
import { chmod, cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Builds the package into a folder, and replaces its content. Commands load their code on demand, so that help starts
 * fast.
 */
export async function buildCli(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: { copra: join(ROOT, "cli/main.ts") },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    minify: true,
    // Error messages contain names of classes.
    keepNames: true,
    format: "esm",
    platform: "node",
    target: "node20",
    // commander is a CommonJS package that requires Node's modules.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    chunkNames: "[name]-[hash]",
    logLevel: "error",
  });
  const program = join(folder, "copra.mjs");
  await writeFile(program, `#!/usr/bin/env node\n${await readFile(program, "utf8")}`);
  await chmod(program, 0o755);
  const { version, license } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const description = "Command line of Copra, a self-hosted media encoding service";
  const entry = { bin: { copra: "copra.mjs" }, type: "module", engines: { node: ">=20.3" } };
  await writeFile(
    join(folder, "package.json"),
    `${JSON.stringify({ name: "@copra/cli", version, description, license, ...entry }, null, 2)}\n`,
  );
  await Promise.all([
    cp(join(ROOT, "docs/cli.md"), join(folder, "README.md")),
    cp(join(ROOT, "LICENSE"), join(folder, "LICENSE")),
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildCli(join(ROOT, "dist/cli"));
