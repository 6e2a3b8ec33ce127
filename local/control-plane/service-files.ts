// The files that the control plane runs and serves. They are built from the sources; the npm package contains them
// (local/package/).
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { ROOT } from "../home/constants.ts";
import { PACKAGED, type ServiceFiles, WorkerDescription } from "./service-parts.ts";

/** Throws esbuild's message if the sources do not build. */
export async function serviceFiles(): Promise<ServiceFiles> {
  const description = join(ROOT, PACKAGED.description);
  // The package has neither the sources nor the tools to build them.
  if (!existsSync(description)) return buildElsewhere();
  return {
    ...WorkerDescription.parse(JSON.parse(await readFile(description, "utf8"))),
    script: await readFile(join(ROOT, PACKAGED.script), "utf8"),
    assets: join(ROOT, PACKAGED.assets),
  };
}

const Built = z.union([
  z.object({ files: WorkerDescription.extend({ script: z.string(), assets: z.string() }) }),
  z.object({ error: z.string() }),
]);

/** Builds in its own process: wrangler and esbuild would keep 400 MB of this process as long as it runs. */
async function buildElsewhere(): Promise<ServiceFiles> {
  const child = fork(join(import.meta.dirname, "build-service.ts"), { execArgv: [] });
  const [answer] = await Promise.race([once(child, "message"), once(child, "exit")]);
  const built = Built.safeParse(answer).data ?? { error: `the build ended with status ${answer}` };
  if ("error" in built) throw new Error(`The sources do not build: ${built.error}`);
  return built.files;
}
