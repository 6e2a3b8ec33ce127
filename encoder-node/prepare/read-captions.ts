// Reads the closed captions of a source's video before its outputs are encoded.
import { AppError, failureOf } from "#shared/errors.ts";
import { burnOf, type OutputSpec } from "#shared/job/output-spec.ts";
import { isChannel } from "#shared/job/subtitles.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import type { Channels } from "#shared/plan/text/choose-texts.ts";
import { CAPTION_TIMES, CAPTION_UNITS, planCaptions } from "#shared/plan/text/plan-captions.ts";
import { type ChannelTrack, channelFile, channelTrack } from "#shared/plan/text/text-tracks.ts";
import { err, ok } from "#shared/result.ts";
import { writeText } from "../run-files/open-file.ts";
import { RunFiles } from "../run-files/run-files.ts";
import { isolated } from "../text/parsing/isolated.ts";
import type { TextSource } from "./read-texts.ts";
import { type RunDeps, runOnSource } from "./run-planned.ts";

/** Ten hours at 60 frames per second have a few hundred megabytes. */
const MAX_BYTES = 500e6;

/** The channels with captions, read if an output needs them. Throws when the signal aborts. */
export async function channelsOf(outputs: readonly OutputSpec[], source: TextSource, deps: RunDeps): Promise<Channels> {
  if (!outputs.some(readsChannels)) return ok([]);
  try {
    return ok(await readCaptions(source, deps));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = failureOf(error);
    const text = code === "subtitle_failed" ? `The closed captions of the input cannot be used: ${message}.` : message;
    return err({ code, message: text });
  }
}

function readsChannels(spec: OutputSpec): boolean {
  const subtitles = spec.type === "text" ? [spec.text] : spec.type === "image" ? [] : (spec.subtitles ?? []);
  return isChannel(burnOf(spec)?.from) || (subtitles !== "all" && subtitles.some(({ from }) => isChannel(from)));
}

/** Throws as `ReadTexts` does. */
async function readCaptions({ probe, folder, ...inputs }: TextSource, deps: RunDeps): Promise<readonly ChannelTrack[]> {
  const run = planCaptions(inputs, probe);
  if (!run) return [];
  const files = await RunFiles.create(folder);
  await runOnSource(inputs, [run], files, deps);
  const fileOf = (name: string) => ({ path: files.pathOf(name), maxBytes: MAX_BYTES });
  const durationMs = sourceFacts(probe).durationMs ?? 0;
  const texts = await isolated("channelTexts", [fileOf(CAPTION_UNITS), fileOf(CAPTION_TIMES), durationMs], deps.signal);
  const tracks: ChannelTrack[] = [];
  for (const [channel, text] of texts) {
    const path = files.pathOf(channelFile(channel));
    await writeText(path, text);
    tracks.push(channelTrack(channel, path));
  }
  return tracks;
}
