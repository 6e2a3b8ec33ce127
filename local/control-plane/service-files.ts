// What the control plane runs and serves: made of the sources, or, in the npm package, made ahead (local/package/).
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { PACKAGED, type ServiceFiles, WorkerDescription } from "./service-parts.ts";

/** Throws esbuild's error when the sources do not build. */
export async function serviceFiles(): Promise<ServiceFiles> {
  const description = join(ROOT, PACKAGED.description);
  if (!existsSync(description)) {
    // The package has neither this module nor the tools that it needs.
    const { buildService } = await import("./build-service.ts");
    return buildService();
  }
  return {
    ...WorkerDescription.parse(JSON.parse(await readFile(description, "utf8"))),
    script: await readFile(join(ROOT, PACKAGED.script), "utf8"),
    assets: join(ROOT, PACKAGED.assets),
  };
}
