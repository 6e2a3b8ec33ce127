// The parts of the control plane: code, bindings, and served files.
import type { V4WorkerOptions } from "miniflare";
import * as z from "zod";

/** The Worker without its code and its assets. */
export const WorkerDescription = z.object({
  name: z.string(),
  /** `[vars]` in wrangler.toml. */
  vars: z.record(z.string(), z.json()),
  /** Miniflare's options for the other bindings of wrangler.toml. */
  options: z.custom<Partial<V4WorkerOptions>>((value) => typeof value === "object" && value !== null),
});
export type WorkerDescription = z.infer<typeof WorkerDescription>;

export type ServiceFiles = WorkerDescription & {
  /** The bundled Worker. */
  readonly script: string;
  /** The folder of the files that the Worker serves. */
  readonly assets: string;
};

/** Paths of these parts in the npm package, relative to its root. */
export const PACKAGED = { description: "worker/worker.json", script: "worker/worker.mjs", assets: "assets" } as const;
