// Reads the closed captions of a source's video before its outputs are encoded.
import { AppError, failureOf } from "#shared/errors.ts";
import { burnOf, type OutputSpec } from "#shared/job/output-spec.ts";
import { isChannel } from "#shared/job/subtitles.ts";
import { sourceFacts } from "#shared/media/source-facts.ts";
import type { Channels } from "#shared/plan/text/choose-texts.ts";
import { CAPTION_TIMES, CAPTION_UNITS, planCaptions } from "#shared/plan/text/plan-captions.ts";
import { type ChannelTrack, channelFile, channelTrack } from "#shared/plan/text/text-tracks.ts";
import { err, ok } from "#shared/result.ts";
import { captionPairs } from "../../closed-captions/caption-pairs.ts";
import { decodePairs } from "../../closed-captions/decode-pairs.ts";
import { webVttText } from "../../package/text/subtitle-cues.ts";
import { readBytes, readText, writeText } from "../../run-files/open-file.ts";
import { RunFiles } from "../../run-files/run-files.ts";
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
  const units = await readBytes(files.pathOf(CAPTION_UNITS), MAX_BYTES);
  const pairs = captionPairs(units, await readText(files.pathOf(CAPTION_TIMES), MAX_BYTES));
  const decoded = await decodePairs(pairs, sourceFacts(probe).durationMs ?? 0, deps.signal);
  const tracks: ChannelTrack[] = [];
  for (const [channel, cues] of decoded) {
    if (cues.length === 0) continue;
    const path = files.pathOf(channelFile(channel));
    await writeText(path, webVttText({ definitions: [], cues }));
    tracks.push(channelTrack(channel, path));
  }
  return tracks;
}
