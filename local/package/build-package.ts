// Builds the npm package `copra`: command line, service and encoder node as JavaScript, with all that is made of
// sources, in the places that they have in the repository. Node.js refuses TypeScript below node_modules.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import * as z from "zod";
import { VERSION } from "#shared/version.ts";
import { ensureAssets } from "../assets/assets.ts";
import { buildCli } from "../cli/build-cli.ts";
import { buildService } from "../control-plane/build-service.ts";
import { PACKAGED, WorkerDescription } from "../control-plane/service-parts.ts";
import { ROOT } from "../home/constants.ts";

/** The programs that the command line and `copra serve` start, and a module that these load. */
const PROGRAMS = [
  ...["local/serve/serve", "local/backup/backup", "local/backup/restore", "local/s3/s3-server"],
  ...["local/control-plane/control-plane", "local/processes/exit-with-parent", "encoder-node/main"],
];
/** Started by the bundled node, beside which they must be (loopback-network.ts and watchdog.ts of encoder-node/). */
const BESIDE_NODE = {
  "encoder-node/loopback-listener": "encoder-node/ffmpeg/sandbox/loopback-listener.ts",
  "encoder-node/watchdog-thread": "encoder-node/watchdog/watchdog-thread.ts",
};

/** Files that are in the package as they are. */
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
  // It starts workerd and loads files beside its own.
  external: ["miniflare"],
  // What bundled CommonJS modules expect.
  banner: {
    js:
      'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url); ' +
      "const __filename = import.meta.filename; const __dirname = import.meta.dirname;",
  },
  logLevel: "error",
};

/** Builds the package into a folder, which is replaced. Throws esbuild's error when the sources do not build. */
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
  const manifest = manifestOf(JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

async function writeService(folder: string): Promise<void> {
  const { script, assets: _, ...description } = await buildService();
  await mkdir(join(folder, "worker"));
  await writeFile(join(folder, PACKAGED.script), script);
  await writeFile(join(folder, PACKAGED.description), JSON.stringify(WorkerDescription.parse(description)));
  // A folder of its own: that of the repository keeps files of earlier builds.
  await ensureAssets(join(folder, PACKAGED.assets));
}

/** The texts of the licenses of libraries that are bundled into the npm package, whose own files are not in it. */
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

/** Of all production dependencies, also of those that are not bundled. */
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

/** Empty for the few whose package has only the name of its license. */
async function textOf(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)\b/i.test(name));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return texts.join("\n");
}

/** package.json of the npm package `copra`. */
const Versions = z.record(z.string(), z.string());
const Repository = z.object({
  version: z.string(),
  description: z.string(),
  license: z.string(),
  dependencies: Versions,
  optionalDependencies: Versions,
});

/** Not bundled: it starts workerd, and loads files beside its own. */
const DEPENDENCIES = ["miniflare"];

/** The package's manifest, of the repository's. */
function manifestOf(packageJson: unknown) {
  const { version, description, license, dependencies, optionalDependencies } = Repository.parse(packageJson);
  return {
    name: "copra",
    version,
    description,
    license,
    type: "module",
    // It is given away as a file: its name at the registry may be somebody else's.
    private: true,
    bin: { copra: "cli/copra.mjs" },
    // The command line's. Service and nodes need a newer one, which npm brings (optionalDependencies).
    engines: { node: ">=20.3" },
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, dependencies[name] ?? ""])),
    optionalDependencies,
    files: ["assets", "cli", "encoder-node", "local", "migrations", "worker", "NOTICE", "THIRD-PARTY-*"],
  };
}

await buildPackage(process.argv[2] ?? join(ROOT, "dist", "package"));
