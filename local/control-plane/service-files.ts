// What the control plane runs and serves: made of the sources, or, in the npm package, made ahead (local/package/).
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { V4WorkerOptions } from "miniflare";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";

/** SQL of a file in migrations/, as Miniflare's database takes it. */
const Migration = z.object({ name: z.string(), statements: z.array(z.string()) });
export type Migration = z.infer<typeof Migration>;

/** Without its code and its assets. */
export const WorkerDescription = z.object({
  name: z.string(),
  /** `[vars]` in wrangler.toml. */
  vars: z.record(z.string(), z.json()),
  /** Miniflare's, for the other bindings of wrangler.toml. */
  options: z.custom<Partial<V4WorkerOptions>>((value) => typeof value === "object" && value !== null),
  migrations: z.array(Migration),
});
export type WorkerDescription = z.infer<typeof WorkerDescription>;

export type ServiceFiles = WorkerDescription & {
  /** The bundled Worker. */
  readonly script: string;
  /** The folder of the files that it serves. */
  readonly assets: string;
};

/** Where the npm package has them, below its root. */
export const PACKAGED = { description: "worker/worker.json", script: "worker/worker.mjs", assets: "assets" } as const;

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
