// Deps of one lease's work, for tests: real tools, and storages on loopback.
import { join } from "node:path";
import { createLogger } from "#shared/log.ts";
import { SOFTWARE_ENCODERS } from "#shared/plan/encoders/encoders.ts";
import { Assignment, type Capabilities, type Task, type TaskStage } from "#shared/protocol/protocol.ts";
import { locateFfmpeg } from "../ffmpeg/build/locate.ts";
import { guardedAgent } from "../source/fetch/address-guard.ts";
import { createRangedSources, type RangedSources } from "../task/ranged-sources.ts";
import { createSourceCache } from "../task/source-cache.ts";
import type { TaskDeps } from "../task/task-deps.ts";
import { storageAddressRefusal } from "../upload/storage-failure.ts";

export const tools = await locateFfmpeg(process.env);

const CAPABILITIES: Capabilities = {
  ...{ ffmpegVersion: "n7", encoders: [...SOFTWARE_ENCODERS], cpus: 1, filters: [], muxers: [], hardware: null },
};

export type Told = { readonly stage: TaskStage; readonly fraction: number };
export type TestNode = {
  readonly rangedSources: RangedSources;
  /** `given` are what a test has of its own. */
  depsOf(
    lease: string,
    task: unknown,
    given: Partial<TaskDeps>,
  ): TaskDeps & { readonly told: Told[]; readonly task: Task };
  close(): Promise<void>;
};

export function startTestNode(folder: string): TestNode {
  const rangedSources = createRangedSources(join(folder, "ranged"), "loopback");
  const sources = createSourceCache(join(folder, "sources"));
  const storages = guardedAgent({ allow: "loopback", refuse: storageAddressRefusal });
  return {
    rangedSources,
    depsOf(lease, task, given) {
      const told: Told[] = [];
      const assignment = Assignment.parse({ lease, token: "t", jobId: lease.split(".")[0], task });
      return {
        ...{ ...tools, capabilities: CAPABILITIES, sources, rangedSources, storages, told, assignment },
        ...{ workFolder: join(folder, "tasks"), allowPrivate: "loopback", maxSourceBytes: 1e9, task: assignment.task },
        log: createLogger({ write: () => undefined, now: Date.now, level: "error" }),
        signal: new AbortController().signal,
        turn: { over: new AbortController().signal, slow: () => undefined },
        probing: (work) => work(),
        progress: (stage, fraction) => void told.push({ stage, fraction }),
        encoded: () => undefined,
        report: async () => false,
        askUploads: () => Promise.reject(new Error("nothing to upload")),
        askScratch: () => Promise.reject(new Error("nothing to keep")),
        ...given,
      };
    },
    async close() {
      await rangedSources.close();
      await sources.clear();
      await storages.destroy();
    },
  };
}
