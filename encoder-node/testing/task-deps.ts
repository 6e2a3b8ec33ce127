// The deps of a task for tests: real tools, and storages on loopback.

import { join } from "node:path";
import { parseLeaseId } from "#shared/ids.ts";
import { OPTIONAL_FILTERS } from "#shared/plan/command/capabilities.ts";
import { SOFTWARE_ENCODERS } from "#shared/plan/encoders/software-encoders.ts";
import type { Capabilities } from "#shared/protocol/capabilities.ts";
import type { TaskStage } from "#shared/protocol/frames.ts";
import { Assignment, slotClassOf, Task } from "#shared/protocol/tasks.ts";
import { locateFfmpeg } from "../ffmpeg/discover/locate.ts";
import { storageAgent } from "../network/storage-agent.ts";
import { NO_TRACE } from "../tracing/task-trace.ts";
import { CommandLog } from "../workspace/command-log.ts";
import { RangedSources } from "../workspace/ranged-sources.ts";
import { SourceCache } from "../workspace/source-cache.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { silentLog } from "./silent-log.ts";

export const tools = await locateFfmpeg(process.env);

/** docs/nodes.md lists the features that do not work with ffmpeg 5. */
export const isFfmpeg5 = tools.ffmpeg.version.startsWith("5.");

const CAPABILITIES: Capabilities = {
  ffmpegVersion: "n7",
  encoders: [...SOFTWARE_ENCODERS],
  cpus: 1,
  filters: [...OPTIONAL_FILTERS],
  muxers: [],
  hardware: null,
};

export type ReportedProgress = { readonly stage: TaskStage; readonly fraction: number };
export type TestNode = {
  readonly rangedSources: RangedSources;
  /** `given` overrides members. */
  depsOf(
    lease: string,
    task: unknown,
    given: Partial<TaskDeps> & { readonly round?: number },
  ): TaskDeps & { readonly reported: ReportedProgress[]; readonly task: Task };
  close(): Promise<void>;
};

/** Sources of a test whose source is a file on disk. */
export const sourceAt = (path: string): TaskDeps["sources"] => ({
  acquire: async () => ({ path, release: () => undefined }),
  open: () => Promise.reject(new Error("no source to fetch")),
  clear: async () => undefined,
});

export function startTestNode(folder: string): TestNode {
  const sources = new SourceCache(join(folder, "sources"));
  const rangedSources = new RangedSources(sources);
  const storages = storageAgent("loopback");
  return {
    rangedSources,
    depsOf(lease, task, changes) {
      const reported: ReportedProgress[] = [];
      const { round = 0, ...overrides } = changes;
      const parsed = Task.parse(task);
      const fields = { kind: parsed.kind, slotClass: slotClassOf(parsed), round };
      const jobId = parseLeaseId(lease)?.job;
      const assignment = Assignment.parse({ lease, token: "t", jobId, ...fields, task: parsed });
      return {
        ...tools,
        capabilities: CAPABILITIES,
        sources,
        rangedSources,
        storages,
        reported,
        assignment,
        task: assignment.task,
        fontsFolder: null,
        speech: null,
        folders: new Map(),
        workFolder: join(folder, "tasks"),
        allowPrivate: "loopback",
        allowSource: "loopback",
        service: { allow: "loopback", storages },
        maxSourceBytes: 1e9,
        log: silentLog,
        signal: new AbortController().signal,
        withProbeSlot: (work) => work(),
        progress: (stage, fraction) => void reported.push({ stage, fraction }),
        playable: () => undefined,
        commands: new CommandLog(),
        trace: NO_TRACE,
        releaseSlot: () => undefined,
        waiting: { begin: () => true, end: () => undefined },
        report: async () => false,
        requestUploads: () => Promise.reject(new Error("no uploads")),
        requestScratch: () => Promise.reject(new Error("no scratch storage")),
        requestChunks: () => Promise.reject(new Error("no chunks")),
        ...overrides,
      };
    },
    async close() {
      await rangedSources.close();
      await sources.clear();
      await storages.destroy();
    },
  };
}
