// Runs the tasks `inspect` and `encode` on a local source with real tools, and stores the uploads on disk.

import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Failure } from "#shared/errors.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { ALL_SOFTWARE } from "#shared/plan/encoders/software-encoders.ts";
import type { OutputReport } from "#shared/protocol/reports.ts";
import type { UploadsRequest } from "#shared/protocol/uploads.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { encode } from "../../tasks/encode/encode.ts";
import { inspect } from "../../tasks/inspect/inspect.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import { serve } from "../range-server.ts";
import { sourceAt, startTestNode, tools } from "../task-deps.ts";

export type ProcessedOutput =
  | { readonly ok: true; readonly files: readonly string[]; readonly note?: string; readonly quality?: QualityReport }
  | { readonly ok: false; readonly failure: Failure };

export type ProcessedSource = {
  /** The probe that would be reported to the job. */
  readonly probe: MediaProbe;
  /** In the order of the requests. `files` are paths; for a stream, the paths of its entry playlists. */
  readonly outputs: readonly ProcessedOutput[];
};

const LEASE = "AAAAAAAAAAAAAA.encode.1";

/** Inspects a source and makes outputs of it. Throws as `inspect` does. Call `closeServers` afterwards. */
export async function processSource(path: string, asks: readonly OutputOptions[]): Promise<ProcessedSource> {
  const folder = await mkdtemp(join(dirname(path), "processed-"));
  const stored = join(folder, "stored");
  const { origin } = await serve((request, response) => {
    // Uploads of a failed output are aborted.
    void keep(request, join(stored, decodeURIComponent(request.url ?? "")))
      .then(() => response.end())
      .catch(() => response.destroy());
  });
  const node = startTestNode(folder);
  const uploadOf = ({ output, file, sizeBytes }: UploadsRequest["files"][number]) => ({
    output,
    file,
    parts: [{ url: `${origin}/${output}/${file}`, headers: {}, offset: 0, sizeBytes }],
  });
  const changes: Partial<TaskDeps> = {
    capabilities: { ...ALL_SOFTWARE, ffmpegVersion: tools.ffmpeg.version, cpus: 1 },
    sources: sourceAt(path),
    requestUploads: async (files) => ({ uploads: files.map(uploadOf) }),
  };
  try {
    const sourceUrl = `${origin}/source`;
    const inspectTask = { kind: "inspect" as const, sourceUrl, chunking: null };
    const inspected = await inspect(inspectTask, node.depsOf(LEASE.replace("encode", "inspect"), inspectTask, changes));
    if (inspected.kind !== "inspect") throw new Error("Not the result of an inspection");
    const task = { kind: "encode" as const, sourceUrl, probe: inspected.probe, outputs: asks.map(specOf) };
    const encoded = await encode(task, node.depsOf(LEASE, task, changes));
    if (encoded.kind !== "encode") throw new Error("Not the result of an encode");
    const reports = encoded.outputs.toSorted((a, b) => a.output - b.output);
    return { probe: inspected.probe, outputs: reports.map((report) => processedOutput(report, stored)) };
  } finally {
    await node.close();
  }
}

async function keep(body: Readable, file: string): Promise<void> {
  const bytes = await buffer(body);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

function processedOutput(report: OutputReport, stored: string): ProcessedOutput {
  if (report.status === "failed") return { ok: false, failure: report.failure };
  const inOrder = report.files.toSorted((a, b) =>
    String(a.file).localeCompare(String(b.file), "en", { numeric: true }),
  );
  const files = inOrder.map(({ file }) => join(stored, String(report.output), String(file)));
  const { note, quality } = report;
  return { ok: true, files, ...(note === undefined ? {} : { note }), ...(quality ? { quality } : {}) };
}
