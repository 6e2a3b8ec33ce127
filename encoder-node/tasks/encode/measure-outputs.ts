// Measures the quality of encoded outputs during their upload. Their reports wait for the measurement.
import { hasTracks } from "#shared/job/output-spec.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import type { Encoded } from "../../outputs/deliver-outputs.ts";
import type { Prepared } from "../../prepare/prepare.ts";
import { measureTracks, type OutputToMeasure } from "../../quality/measure-tracks.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";

type Waiting = OutputToMeasure & { readonly settle: (report: QualityReport) => void };

export class OutputMeasurement {
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
    const { folder, network, burns } = this.#prepared;
    const deps = { ...this.#deps, folder, network, burns };
    for await (const { output, tracks } of measureTracks({ ...this.#prepared, outputs }, deps))
      this.#waiting.get(output)?.settle(qualityReport(tracks));
  }
}
