// The texts of the licenses of libraries that are bundled into the npm package, whose own files are not in it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";

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
export async function licenseTexts(): Promise<string> {
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
