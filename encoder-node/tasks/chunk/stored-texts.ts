// The text of a source, which the task `texts` stored in the scratch bucket.
import { rename } from "node:fs/promises";
import { basename } from "node:path";
import { CAPTION_CHANNELS } from "#shared/job/subtitles.ts";
import type { Channels } from "#shared/plan/text/choose-texts.ts";
import { channelFile, channelTrack } from "#shared/plan/text/text-tracks.ts";
import type { ScratchTrack } from "#shared/protocol/scratch.ts";
import { ok } from "#shared/result.ts";
import { type ReadTexts, textsIn } from "../../prepare/read-texts.ts";
import { RunFiles } from "../../run-files/run-files.ts";
import type { ScratchDeps } from "../../workspace/scratch.ts";
import { fetchChunks } from "./fetch-chunks.ts";

export type StoredTexts = { readonly readTexts: ReadTexts; readonly channels: Channels };

/** Fetches the files into a new folder in the workspace. Throws as `fetchChunks` does. */
export async function storedTexts(
  texts: readonly ScratchTrack[],
  folder: string,
  deps: ScratchDeps,
): Promise<StoredTexts> {
  const files = await RunFiles.create(folder);
  const onChunk = ({ name }: ScratchTrack, path: string): Promise<void> => rename(path, files.pathOf(name));
  await fetchChunks({ chunks: texts, folder, onChunk }, deps);
  const names = new Set(texts.map(({ name }) => basename(name)));
  const channels = CAPTION_CHANNELS.filter((channel) => names.has(channelFile(channel)));
  return {
    channels: ok(channels.map((channel) => channelTrack(channel, files.pathOf(channelFile(channel))))),
    readTexts: async () => textsIn(files),
  };
}
