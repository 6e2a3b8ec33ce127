// Builds the npm package `copra`: command line, service, encoder node and typed client as JavaScript, with all
// generated files, in the same places as in the repository. Node.js rejects TypeScript below node_modules.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import * as z from "zod";
import { VERSION } from "#shared/version.ts";
import { ensureAssets } from "../assets/assets.ts";
import { buildCli } from "../cli/build-cli.ts";
import { buildClient } from "../client/build-client.ts";
import { buildService } from "../control-plane/build-service.ts";
import { PACKAGED, WorkerDescription } from "../control-plane/service-parts.ts";
import { ROOT } from "../home/constants.ts";

/** The programs that the command line and `copra serve` start, and a module that these programs load. */
const PROGRAMS = [
  ...["local/serve/serve", "local/backup/backup", "local/backup/restore", "local/s3/s3-server"],
  ...["local/control-plane/control-plane", "local/processes/exit-with-parent", "encoder-node/main"],
];
/**
 * Programs that the bundled node starts. They must be beside it (encoder-node/own-program.ts).
 */
const BESIDE_NODE = {
  "encoder-node/loopback-listener": "encoder-node/ffmpeg/sandbox/loopback-listener.ts",
  "encoder-node/parse-process": "encoder-node/text/parsing/parse-process.ts",
  "encoder-node/speech-process": "encoder-node/speech/speech-process.ts",
  "encoder-node/watchdog-thread": "encoder-node/watchdog/watchdog-thread.ts",
};

/** Files that the package contains unchanged. */
const COPIED = [
  ...["LICENSE", "NOTICE", "THIRD-PARTY-NOTICES.md", "migrations"],
  ...["local/bootstrap.mjs", "local/control-plane/run-workerd.sh"],
];

const OPTIONS: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  // Stack traces name functions.
  minifyWhitespace: true,
  minifySyntax: true,
  format: "esm",
  platform: "node",
  target: "node22",
  outExtension: { ".js": ".mjs" },
  // Miniflare starts workerd, and loads files beside its own.
  external: ["miniflare"],
  // Variables that bundled CommonJS modules expect.
  banner: {
    js:
      'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url); ' +
      "const __filename = import.meta.filename; const __dirname = import.meta.dirname;",
  },
  logLevel: "error",
};

/** Builds the package into a folder, and replaces its content. Throws esbuild's error if the sources do not build. */
async function buildPackage(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await buildCli(join(folder, "cli"));
  for (const file of ["package.json", "README.md", "LICENSE"]) await rm(join(folder, "cli", file));
  const entries = { ...Object.fromEntries(PROGRAMS.map((name) => [name, `${name}.ts`])), ...BESIDE_NODE };
  await build({ ...OPTIONS, entryPoints: entries, outdir: folder });
  for (const path of COPIED) await cp(join(ROOT, path), join(folder, path), { recursive: true });
  await rm(join(folder, "migrations", "meta"), { recursive: true });
  const readme = await readFile(join(ROOT, "local/package/README.md"), "utf8");
  await writeFile(join(folder, "README.md"), readme.replaceAll("VERSION", VERSION));
  await writeFile(join(folder, "THIRD-PARTY-LICENSES.txt"), await licenseTexts());
  await writeService(folder);
  const exports = await writeClient(folder);
  const manifest = { ...manifestOf(JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"))), exports };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function writeService(folder: string): Promise<void> {
  const { script, assets: _, ...description } = await buildService();
  await mkdir(join(folder, "worker"));
  await writeFile(join(folder, PACKAGED.script), script);
  await writeFile(join(folder, PACKAGED.description), JSON.stringify(WorkerDescription.parse(description)));
  // A separate folder, because the repository's folder keeps files of earlier builds.
  const assets = await ensureAssets(join(folder, PACKAGED.assets));
  const shell = join(assets, "shell.html");
  await writeFile(shell, (await readFile(shell, "utf8")).replace("npm run copra --", "npx --no copra"));
}

/** Builds the typed client as `copra/client`. Returns the entries of `exports` for it. */
async function writeClient(folder: string): Promise<Record<string, unknown>> {
  await buildClient(join(folder, "client"));
  const manifest = join(folder, "client", "package.json");
  const { exports } = Exports.parse(JSON.parse(await readFile(manifest, "utf8")));
  for (const file of [manifest, join(folder, "client", "LICENSE")]) await rm(file);
  const below = (path: string): string => path.replace(/^\./, "./client");
  return Object.fromEntries(
    Object.entries(exports).map(([name, { types, default: script }]) => [
      below(name),
      { types: below(types), default: below(script) },
    ]),
  );
}
const Exports = z.object({ exports: z.record(z.string(), z.object({ types: z.string(), default: z.string() })) });

/** The packages of package-lock.json, for their licenses. */
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      optional: z.boolean().optional(),
      devOptional: z.boolean().optional(),
    }),
  ),
});

/** The license texts of all production dependencies, bundled or not. Bundling leaves out the libraries' own files. */
async function licenseTexts(): Promise<string> {
  const { packages } = Lock.parse(JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8")));
  const shipped = Object.entries(packages).filter(
    ([path, { dev, optional, devOptional }]) => path !== "" && !(dev || optional || devOptional),
  );
  const texts = await Promise.all(
    shipped.map(async ([path, { version = "", license = "" }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${await textOf(join(ROOT, path))}`;
    }),
  );
  return texts.join("\n");
}

/** The license text of a package; empty for the few packages that have only the name of their license. */
async function textOf(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return texts.join("\n");
}

/** Versions by package name. */
const Versions = z.record(z.string(), z.string());
const Repository = z.object({
  version: z.string(),
  description: z.string(),
  license: z.string(),
  dependencies: Versions,
  optionalDependencies: Versions,
});

/** Not bundled: miniflare starts workerd, and loads files beside its own. Nodes read the files of the fonts. */
const DEPENDENCIES = ["miniflare", "@expo-google-fonts/noto-sans", "@expo-google-fonts/noto-sans-arabic"];

/** The manifest of the npm package, from the repository's package.json. */
function manifestOf(packageJson: unknown) {
  const { version, description, license, dependencies, optionalDependencies } = Repository.parse(packageJson);
  return {
    name: "copra",
    version,
    description,
    license,
    type: "module",
    // The package is distributed as a file: somebody else may own its name at the registry.
    private: true,
    bin: { copra: "cli/copra.mjs" },
    // For the command line. Service and nodes need a newer version, which npm installs (optionalDependencies).
    engines: { node: ">=20.3" },
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, dependencies[name] ?? ""])),
    optionalDependencies,
    files: ["assets", "cli", "client", "encoder-node", "local", "migrations", "worker", "NOTICE", "THIRD-PARTY-*"],
  };
}

await buildPackage(process.argv[2] ?? join(ROOT, "dist", "package"));
