// Fetches the files that outputs need besides the source: watermarks, and the subtitles of streams.
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { SubtitleFiles } from "../../publish/publisher.ts";
import { fetchSubtitles } from "../../source/extras/fetch-subtitles.ts";
import { fetchWatermarks } from "../../source/extras/fetch-watermarks.ts";
import type { TaskDeps } from "../../workspace/task-deps.ts";
import type { FailedOutput } from "./check-output.ts";

export type Extras = {
  /** Files by URL. */
  readonly watermarks: ReadonlyMap<string, string>;
  readonly subtitles: SubtitleFiles;
};

/** Fetches the files into `folder`. `failed`: the outputs whose files cannot be fetched. */
export async function fetchExtras(
  outputs: readonly OutputSpec[],
  folder: string,
  deps: TaskDeps,
): Promise<Extras & { readonly failed: FailedOutput[] }> {
  const watermarks = await watermarksOf(outputs, folder, deps);
  const subtitles = await subtitlesOf(outputs, folder, deps);
  return { ...watermarks, ...subtitles, failed: [...watermarks.failed, ...subtitles.failed] };
}

/** The URL of an output's watermark; null: none. */
const watermarkUrl = (spec: OutputSpec): string | null =>
  spec.type === "httpstream" ? null : (spec.watermark?.url ?? null);

async function watermarksOf(outputs: readonly OutputSpec[], folder: string, deps: TaskDeps) {
  const { ffprobe, allowPrivate: allow, signal } = deps;
  const urls = outputs.flatMap((spec) => watermarkUrl(spec) ?? []);
  const fetched = await fetchWatermarks({ urls, folder, ffprobe, allow, signal });
  const watermarks = new Map([...fetched].flatMap(([url, file]) => (file.ok ? [[url, file.value]] : [])));
  const failed = outputs.flatMap((spec): FailedOutput[] => {
    const file = fetched.get(watermarkUrl(spec) ?? "");
    return file && !file.ok ? [{ output: spec.index, failure: file.error }] : [];
  });
  return { watermarks, failed };
}

async function subtitlesOf(outputs: readonly OutputSpec[], folder: string, deps: TaskDeps) {
  const { ffmpeg, allowPrivate: allow, signal } = deps;
  const subtitles = new Map<number, readonly string[]>();
  const failed: FailedOutput[] = [];
  for (const spec of outputs) {
    if (spec.type !== "httpstream") continue;
    const name = `${spec.index}-subtitles`;
    const fetched = await fetchSubtitles({ subtitles: spec.subtitles, folder, name, ffmpeg, allow, signal });
    if (fetched.ok) subtitles.set(spec.index, fetched.value);
    else failed.push({ output: spec.index, failure: fetched.error });
  }
  return { subtitles, failed };
}
