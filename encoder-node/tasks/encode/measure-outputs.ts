// Measures the quality of encoded outputs during their upload. Their reports wait for the measurement.
import { hasTracks } from "#shared/job/output-spec.ts";
import type { QualityReport } from "#shared/job/quality.ts";
import type { RunInputs } from "#shared/plan/runs/plan-run.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import type { Encoded } from "../../outputs/deliver-outputs.ts";
import { measureTracks, type OutputToMeasure } from "../../quality/measure-tracks.ts";
import { qualityReport } from "../../quality/quality-report.ts";
import type { EncodeDeps } from "./encode-source.ts";

export interface Measuring {
  /** Returns the same outputs. Outputs that will be measured have a promise of their quality. */
  add(encoded: readonly Encoded[]): Encoded[];
  /** Measures the outputs, a few together. Rejects when the signal aborts: the promises are then never settled. */
  run(): Promise<void>;
}

type Waiting = OutputToMeasure & { readonly settle: (report: QualityReport) => void };

/** `folder`: the workspace with the encoded files. */
export function openMeasuring(
  { task, folder, ...inputs }: RunInputs & { readonly task: TaskOf<"encode">; readonly folder: string },
  deps: EncodeDeps,
): Measuring {
  const waiting = new Map<number, Waiting>();
  const specOf = (output: number) => task.outputs.find(({ index }) => index === output);
  return {
    add: (encoded) =>
      encoded.map((report) => {
        const spec = specOf(report.output);
        if ("failure" in report || !spec || !hasTracks(spec) || !spec.measuresQuality) return report;
        const { promise, resolve } = Promise.withResolvers<QualityReport>();
        waiting.set(report.output, { spec, videos: report.videos ?? [], settle: resolve });
        return { ...report, quality: promise };
      }),
    async run() {
      const { network, ...others } = deps;
      const measureDeps = { ...others, folder, ...(network ? { network } : {}) };
      const outputs = [...waiting.values()];
      for await (const { output, tracks } of measureTracks({ ...inputs, probe: task.probe, outputs }, measureDeps))
        waiting.get(output)?.settle(qualityReport(tracks));
    },
  };
}
