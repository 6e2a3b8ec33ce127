// package.json of the npm package `copra`.
import * as z from "zod";

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
export function manifestOf(packageJson: unknown) {
  const { version, description, license, dependencies, optionalDependencies } = Repository.parse(packageJson);
  return {
    ...{ name: "copra", version, description, license, type: "module" },
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
