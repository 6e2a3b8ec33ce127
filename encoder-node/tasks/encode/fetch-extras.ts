// Fetches what outputs need beside the source: watermarks, and the subtitles of streams.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { SubtitleFiles } from "../../publish/publisher.ts";
import { fetchSubtitles } from "../../source/extras/fetch-subtitles.ts";
import { fetchWatermarks } from "../../source/extras/fetch-watermarks.ts";
import type { TaskDeps } from "../../task/task-deps.ts";
import type { FailedOutput } from "./check-output.ts";

export type Extras = {
  /** Files by URL. */
  readonly watermarks: ReadonlyMap<string, string>;
  readonly subtitles: SubtitleFiles;
};

/** What is there, in `folder`, and the outputs that must do without. */
export async function fetchExtras(
  outputs: readonly OutputSpec[],
  folder: string,
  deps: TaskDeps,
): Promise<Extras & { readonly failed: FailedOutput[] }> {
  const marks = await fetchMarks(outputs, folder, deps);
  const texts = await fetchTexts(outputs, folder, deps);
  return { ...marks, ...texts, failed: [...marks.failed, ...texts.failed] };
}

/** The URL of an output's watermark; null: none. */
const markOf = (spec: OutputSpec): string | null => (spec.type === "httpstream" ? null : (spec.watermark?.url ?? null));

async function fetchMarks(outputs: readonly OutputSpec[], folder: string, deps: TaskDeps) {
  const { ffprobe, allowPrivate: allow, signal } = deps;
  const urls = outputs.flatMap((spec) => markOf(spec) ?? []);
  const fetched = await fetchWatermarks({ urls, folder, ffprobe, allow, signal });
  const watermarks = new Map([...fetched].flatMap(([url, mark]) => ("path" in mark ? [[url, mark.path]] : [])));
  const failed = outputs.flatMap((spec): FailedOutput[] => {
    const mark = fetched.get(markOf(spec) ?? "");
    return mark && "failure" in mark ? [{ output: spec.index, failure: mark.failure }] : [];
  });
  return { watermarks, failed };
}

async function fetchTexts(outputs: readonly OutputSpec[], folder: string, deps: TaskDeps) {
  const { ffmpeg, allowPrivate: allow, signal } = deps;
  const subtitles = new Map<number, readonly string[]>();
  const failed: FailedOutput[] = [];
  for (const spec of outputs) {
    if (spec.type !== "httpstream") continue;
    const name = `${spec.index}-subtitles`;
    const fetched = await fetchSubtitles({ subtitles: spec.subtitles, folder, name, ffmpeg, allow, signal });
    if ("failure" in fetched) failed.push({ output: spec.index, failure: fetched.failure });
    else subtitles.set(spec.index, fetched.paths);
  }
  return { subtitles, failed };
}
