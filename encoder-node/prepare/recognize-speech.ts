// Recognizes the speech in a source's audio, once per language, and writes it as WebVTT.
import { basename } from "node:path";
import { AppError, type Failure, failureOf } from "#shared/errors.ts";
import type { Clip } from "#shared/job/clip.ts";
import { channelLanguage, type SpeechChannel, SpeechMetadata } from "#shared/job/speech.ts";
import { undecodableFailure } from "#shared/media/choose-streams.ts";
import { planSpeech, SPEECH_SAMPLES } from "#shared/plan/text/plan-speech.ts";
import { type ChannelTrack, channelFile, failedChannel, speechTrack } from "#shared/plan/text/text-tracks.ts";
import { readText, writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { MAX_SEGMENTS_BYTES, runEngine, SEGMENTS_FILE, type SpeechEngine } from "../speech/engine.ts";
import { isolated } from "../text/parsing/isolated.ts";
import { type RunDeps, runOnSource } from "../workspace/run-planned.ts";
import type { TaskSource } from "../workspace/task-source.ts";

type Deps = RunDeps & { readonly speech: SpeechEngine | null };
type Wanted = { readonly channels: readonly SpeechChannel[]; readonly clip: Clip | undefined };

/** The tracks of channels; none if the source has no audio. Throws when the signal aborts. */
export async function recognizeSpeech(
  { channels, clip }: Wanted,
  source: TaskSource,
  deps: Deps,
): Promise<readonly ChannelTrack[]> {
  const { audio } = source.tracks;
  if (!audio || channels.length === 0) return [];
  const failed = (failure: Failure): ChannelTrack[] => channels.map((channel) => failedChannel(channel, failure));
  if (audio.undecodable) return failed(undecodableFailure(audio.undecodable));
  const files = await RunFiles.create(source.folder);
  try {
    const run = planSpeech(source, source.probe, source.tracks, audio, clip);
    await runOnSource(source, [run], files, deps);
    const tracks: ChannelTrack[] = [];
    for (const channel of channels) tracks.push(await recognize(channel, files, { clip, ...source }, deps));
    return tracks;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failed(failureOf(error));
  }
}

/** Throws AppError `speech_failed`, and the signal's reason. */
async function recognize(
  channel: SpeechChannel,
  samples: RunFiles,
  { clip, folder }: Pick<Wanted, "clip"> & Pick<TaskSource, "folder">,
  { speech, signal }: Deps,
): Promise<ChannelTrack> {
  if (!speech) throw new AppError("encoder_not_available", "The encoder node has no speech recognition.");
  const files = await RunFiles.create(folder);
  const startedAt = performance.now();
  const path = samples.pathOf(SPEECH_SAMPLES);
  await runEngine(speech, { samples: path, language: channelLanguage(channel), signal }, files);
  const segments = { path: files.pathOf(SEGMENTS_FILE), maxBytes: MAX_SEGMENTS_BYTES };
  const read = await isolated("speechText", [segments, clip?.startMs ?? 0], signal).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("speech_failed", `The speech could not be recognized: ${error.message}.`, { cause: error });
  });
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const vtt = files.pathOf(channelFile(channel));
  await writeText(vtt, read.text);
  const model = basename(speech.model)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 100);
  return speechTrack(channel, vtt, { model, language: read.language, seconds, words: read.words });
}

// Recognized speech in the scratch bucket: a file of text, and a file about it.

const MAX_FACTS_BYTES = 10_000;
const factsFile = (channel: string): string => `${channel}.json`;

/** Writes the file about a track beside its text, and returns its path. */
export async function writeFacts({ channel, path, speech }: ChannelTrack): Promise<string> {
  const facts = path.replace(channelFile(channel), factsFile(channel));
  await writeText(facts, JSON.stringify(speech));
  return facts;
}

/** The track whose files are in the folder. */
export async function storedSpeech(channel: SpeechChannel, files: RunFiles): Promise<ChannelTrack> {
  const facts = await readText(files.pathOf(factsFile(channel)), MAX_FACTS_BYTES);
  return speechTrack(channel, files.pathOf(channelFile(channel)), SpeechMetadata.parse(JSON.parse(facts)));
}
