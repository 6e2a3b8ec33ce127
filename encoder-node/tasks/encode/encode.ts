// The task `encode`: make all outputs from one source, and upload each as soon as it is made.
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { type Encoded, openDelivery } from "../../outputs/deliver-outputs.ts";
import { openEarlyUploads } from "../../outputs/early-uploads.ts";
import { type Measure, type Prepared, prepare } from "../../prepare/prepare.ts";
import { openPublisher } from "../../publish/publication.ts";
import { measureTracks, type OutputToMeasure } from "../../quality/measure-tracks.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import type { TaskSource } from "../../workspace/task-source.ts";
import { EncodeRun } from "./encode-run.ts";
import { verifyStreams, withEncodeSource } from "./encode-source.ts";

const MEASURES: readonly Measure[] = ["watermarks", "texts", "audio", "captions", "gains", "targets"];

export const encode = (task: TaskOf<"encode">, deps: TaskDeps): Promise<TaskResult> =>
  withEncodeSource(task, deps, (source, sourceDeps, release) =>
    encodeSource({ ...source, outputs: task.outputs }, release, sourceDeps),
  );

/** The source as it is read, and the outputs to make of it. */
type Work = TaskSource & { readonly outputs: readonly OutputSpec[] };

async function encodeSource(work: Work, releaseSource: () => void, sourceDeps: TaskDeps): Promise<TaskResult> {
  const { outputs } = work;
  const useless = new AbortController();
  const deps = { ...sourceDeps, signal: AbortSignal.any([sourceDeps.signal, useless.signal]) };
  // Checked while ffmpeg starts. Nothing is stored before the check has ended.
  const verified = verifyStreams(work, deps);
  verified.catch((error: unknown) => useless.abort(error));
  const publisher = openPublisher(outputs, deps);
  const uploads = openEarlyUploads(verified, deps);
  const delivery = openDelivery(outputs.length, deps, verified);
  try {
    deps.progress("encoding", 0);
    const prepared = await prepare(MEASURES, { ...work, onEnded: delivery.add }, deps);
    const measurement = new OutputMeasurement(prepared, deps);
    const onEncoded = (encoded: readonly Encoded[]): void =>
      delivery.add(encoded.map((output) => measurement.add(prepared.describe(output))));
    await new EncodeRun(prepared, { publisher, uploads, onEncoded }, deps).run();
    await measurement.run();
    await verified;
    // Uploads may take long. They need neither the source nor an encoder.
    releaseSource();
    deps.releaseSlot();
    return { kind: "encode", outputs: await delivery.finish() };
  } finally {
    await Promise.all([publisher.stop(), uploads.stop(), delivery.stop()]);
  }
}

type Waiting = OutputToMeasure & { readonly settle: (report: QualityReport) => void };

/** Measures the quality of encoded outputs during their upload. Their reports wait for the measurement. */
class OutputMeasurement {
  readonly #prepared: Prepared;
  readonly #deps: TaskDeps;
  readonly #waiting = new Map<number, Waiting>();

  constructor(prepared: Prepared, deps: TaskDeps) {
    this.#prepared = prepared;
    this.#deps = deps;
  }

  /** Returns the same output, with a promise of its quality if the output will be measured. */
  add(encoded: Encoded): Encoded {
    const spec = this.#prepared.outputs.find(({ index }) => index === encoded.output);
    if ("failure" in encoded || !spec || !hasTracks(spec) || !spec.measuresQuality) return encoded;
    const { promise, resolve } = Promise.withResolvers<QualityReport>();
    this.#waiting.set(encoded.output, { spec, videos: encoded.videos ?? [], settle: resolve });
    return { ...encoded, quality: promise };
  }

  /** Measures the outputs, a few together. Rejects when the signal aborts: the promises are then never settled. */
  async run(): Promise<void> {
    const outputs = [...this.#waiting.values()];
    for await (const { output, tracks } of measureTracks({ ...this.#prepared, outputs }, this.#deps))
      this.#waiting.get(output)?.settle(qualityReport(tracks));
  }
}
