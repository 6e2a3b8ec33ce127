// Publishes the streams of a task: packages and uploads them while ffmpeg encodes them. Each run of ffmpeg starts new
// publications, each in its own folder.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { streamFolder } from "#shared/job/stream-files.ts";
import type { PlannedOutput } from "#shared/plan/outputs/output-plan.ts";
import type { Assignment } from "#shared/protocol/tasks.ts";
import type { RunFiles } from "../run-files/run-files.ts";
import { openPublication, type Publication, type PublicationDeps } from "./publication.ts";
import type { SubtitleFile } from "./publication-options.ts";

export interface Publisher {
  /** Starts to publish the streams among these outputs, which ffmpeg will write. */
  follow(outputs: readonly PlannedOutput[], files: RunFiles, subtitles: SubtitleFiles): Promise<Publications>;
  /** Stops all publications. */
  stop(): Promise<void>;
}

/** Publications by output. */
export type Publications = ReadonlyMap<number, Publication>;
/** The text tracks of each output. */
export type SubtitleFiles = ReadonlyMap<number, readonly SubtitleFile[]>;

export type PublisherDeps = PublicationDeps & { readonly assignment: Assignment };

/** `specs` are the outputs of the task. */
export function openPublisher(specs: readonly OutputSpec[], deps: PublisherDeps): Publisher {
  const started: Publication[] = [];
  /** The number of publications by output. */
  const runs = new Map<number, number>();
  return {
    async follow(outputs, files, subtitleFiles) {
      const publications = new Map<number, Publication>();
      for (const { stream, ...planned } of outputs) {
        const spec = specs.find(({ index }) => index === planned.output);
        if (!stream || spec?.type !== "httpstream") continue;
        const subtitles = subtitleFiles.get(spec.index) ?? [];
        const run = (runs.get(spec.index) ?? 0) + 1;
        runs.set(spec.index, run);
        const folder = streamFolder(deps.assignment.lease, run);
        const publication = openPublication({ spec, planned: { ...planned, stream }, files, folder, subtitles }, deps);
        started.push(publication);
        publications.set(spec.index, publication);
      }
      return publications;
    },
    async stop() {
      await Promise.all(started.map((publication) => publication.stop()));
    },
  };
}
