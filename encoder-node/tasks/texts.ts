// The task `texts`: read the text of the source that chunked outputs show, and store it in the scratch bucket. A chunk
// reads only a part of the source, and a join none of it.
import { rename } from "node:fs/promises";
import { basename } from "node:path";
import { AppError } from "#shared/errors.ts";
import type { OutputSpec } from "#shared/job/output-spec.ts";
import { SPEECH_CHANNELS } from "#shared/job/speech.ts";
import { CAPTION_CHANNELS, type TextChannel } from "#shared/job/subtitles.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { type Channels, outputTexts } from "#shared/plan/text/choose-texts.ts";
import { channelFile, channelTrack, type TextTrack, textTracks } from "#shared/plan/text/text-tracks.ts";
import type { TaskResult } from "#shared/protocol/reports.ts";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import type { TaskOf } from "#shared/protocol/tasks.ts";
import { type SourceTexts, sourceTexts, textsIn } from "../prepare/read-texts.ts";
import { storedSpeech, writeFacts } from "../prepare/recognize-speech.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { fetchChunks } from "../workspace/fetch-tracks.ts";
import { type ScratchDeps, storeTracks } from "../workspace/scratch.ts";
import type { TaskDeps } from "../workspace/task-deps.ts";
import { withRangedSource } from "../workspace/task-source.ts";

export function readSourceTexts(task: TaskOf<"texts">, deps: TaskDeps): Promise<TaskResult> {
  const { probe, outputs } = task;
  return withRangedSource(task, deps, async (source, rangedDeps) => {
    deps.progress("encoding", 0);
    const { channels, readTexts } = await sourceTexts(outputs, source, rangedDeps);
    const failure = channels.find((track) => track.failure)?.failure;
    if (failure) throw AppError.from(failure);
    const tracks = shownTracks(outputs, probe, channels);
    const fileOf = await readTexts(tracks);
    const [output = 0] = outputs.map(({ index }) => index);
    const about = channels.filter((track) => track.speech && tracks.includes(track)).map(writeFacts);
    const paths = [...tracks.map((track) => fileOf(track).path), ...(await Promise.all(about))];
    const files = paths.map((path, at) => ({ output, track: `text-${at + 1}`, path, frames: null }));
    return { kind: "texts", tracks: await storeTracks(files, deps) };
  });
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

/** Fetches the stored files into a new folder in the workspace. Throws as `fetchChunks` does. */
export async function storedTexts(
  texts: readonly ScratchTrack[],
  folder: string,
  deps: ScratchDeps,
): Promise<SourceTexts> {
  const files = await RunFiles.create(folder);
  const onChunk = ({ name }: ScratchTrack, path: string): Promise<void> => rename(path, files.pathOf(name));
  await fetchChunks({ chunks: texts, folder, onChunk }, deps);
  const names = new Set(texts.map(({ name }) => basename(name)));
  const isStored = (channel: TextChannel): boolean => names.has(channelFile(channel));
  const captions = CAPTION_CHANNELS.filter(isStored);
  const speech = SPEECH_CHANNELS.filter(isStored).map((channel) => storedSpeech(channel, files));
  return {
    channels: [
      ...captions.map((channel) => channelTrack(channel, files.pathOf(channelFile(channel)))),
      ...(await Promise.all(speech)),
    ],
    readTexts: async () => textsIn(files),
  };
}
