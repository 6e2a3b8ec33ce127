// The task `texts`: read the text of the source that chunked outputs show, and store it in the scratch bucket. A chunk
// reads only a part of the source, and a join none of it.
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type Channels, outputTexts } from "#shared/plan/text/choose-texts.ts";
import { type TextTrack, textTracks } from "#shared/plan/text/text-tracks.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { channelsOf, textReader } from "../prepare/read-texts.ts";
import { withRangedSource } from "../workspace/read-ranged.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { inWorkspace } from "../workspace/workspace.ts";
import { storeTracks } from "./chunk/store-tracks.ts";

export function readSourceTexts({ probe, outputs, ...task }: TaskOf<"texts">, deps: TaskDeps): Promise<TaskResult> {
  return inWorkspace(deps.workFolder, (folder) =>
    withRangedSource(task, deps, async (served, rangedDeps) => {
      deps.progress("encoding", 0);
      const source = { ...served, probe, folder };
      const channels = await channelsOf(outputs, source, rangedDeps);
      if (!channels.ok) throw AppError.from(channels.error);
      const tracks = shownTracks(outputs, probe, channels);
      const fileOf = await textReader(source, rangedDeps)(tracks);
      const paths = tracks.map((track) => fileOf(track).path);
      const [output = 0] = outputs.map(({ index }) => index);
      const files = paths.map((path, at) => ({ output, track: `text-${at + 1}`, path, frames: null }));
      return { kind: "texts", tracks: await storeTracks(files, deps) };
    }),
  );
}

/**
 * The tracks that outputs show, each once. The join reports a track that an output lacks. Throws if captions to draw
 * are missing: chunks without them would be useless.
 */
function shownTracks(outputs: readonly OutputSpec[], probe: MediaProbe, channels: Channels): TextTrack[] {
  const tracks = textTracks(probe);
  const texts = outputs.flatMap((spec) => {
    const { shown, burnt } = outputTexts(spec, tracks, channels);
    if (!burnt.ok) throw AppError.from(burnt.error);
    return [...(shown.ok ? shown.value.texts : []), ...burnt.value.texts];
  });
  return [...new Set(texts.flatMap(({ source }) => ("track" in source ? [source.track] : [])))];
}
