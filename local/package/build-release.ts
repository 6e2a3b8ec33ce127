// Builds both npm packages for publication, `dist/release/service` and `dist/release/client`, and checks that others
// can use them. Their names are in `config` in package.json.
import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";

const run = promisify(execFile);

const Manifest = z.looseObject({ name: z.string(), version: z.string() });
type Manifest = z.infer<typeof Manifest>;
const Names = z.object({ config: z.object({ service_package: z.string(), client_package: z.string() }) });

/** The install command of a package that is distributed as a file (local/package/README.md). */
const FROM_FILE = /^npm install \.\/copra-.*\n/m;

const readManifest = async (folder: string): Promise<Manifest> =>
  Manifest.parse(JSON.parse(await readFile(join(folder, "package.json"), "utf8")));

/**
 * Makes the package in a folder publishable under a name. `repository`: its URL, without which npm rejects the
 * provenance.
 */
export async function publishable(folder: string, name: string, repository: string | null): Promise<void> {
  const { private: _, ...manifest } = await readManifest(folder);
  const published = {
    ...manifest,
    name,
    ...(repository === null ? {} : { repository: { type: "git", url: `git+${repository}.git` } }),
    publishConfig: { access: "public" },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  const readme = join(folder, "README.md");
  await writeFile(readme, (await readFile(readme, "utf8")).replace(FROM_FILE, `npm install ${name}\n`));
}

/** Reasons why others could not use the package in a folder, a sentence each. */
export async function problemsOf(folder: string): Promise<string[]> {
  const manifest = await readManifest(folder);
  const { messages } = await publint({ pkgDir: folder, level: "warning" });
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}

async function buildRelease(folder: string): Promise<void> {
  const { config } = Names.parse(JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")));
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env;
  const repository = server && path ? `${server}/${path}` : null;
  const packages = [
    ["service", config.service_package, "local/package/build-package.ts"],
    ["client", config.client_package, "local/client/build-client.ts"],
  ] as const;
  await rm(folder, { recursive: true, force: true });
  for (const [part, name, program] of packages) {
    const built = join(folder, part);
    await run(process.execPath, [join(ROOT, "local/bootstrap.mjs"), program, built], { cwd: ROOT });
    await publishable(built, name, repository);
    const problems = await problemsOf(built);
    if (problems.length > 0) throw new Error(`${name} cannot be published:\n${problems.join("\n")}`);
    const { version } = await readManifest(built);
    console.log(`${name} ${version}: ${built}`);
  }
}

if (import.meta.main ?? process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildRelease(join(ROOT, "dist", "release"));
}
