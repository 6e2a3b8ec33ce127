// Fetches the files of audio tracks with a URL to this node's disk, each once, and probes them.
import { join } from "node:path";
import { AppError } from "#shared/errors.ts";
import { hasTracks, type OutputSpec } from "#shared/job/output-spec.ts";
import { chosenAudio, undecodable } from "#shared/media/choose-streams.ts";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import type { AudioFile } from "#shared/plan/source/source-tracks.ts";
import type { Result } from "#shared/result.ts";
import type { Tool } from "../../ffmpeg/discover/locate.ts";
import { probeSource } from "../../source/probe/probe-source.ts";
import { type ExtraDeps, fetchExtra } from "./fetch-extra.ts";

/** Hours of uncompressed audio. */
const MAX_BYTES = 4e9;

export type FetchAudio = ExtraDeps & {
  readonly outputs: readonly OutputSpec[];
  readonly folder: string;
  readonly ffprobe: Tool;
};

/** By URL: the file, or the reason why it cannot be used. */
export type FetchedAudio = ReadonlyMap<string, Result<AudioFile>>;

/** URLs of the audio tracks of an output. */
export const audioUrls = (spec: OutputSpec): string[] =>
  hasTracks(spec) && typeof spec.audioTracks === "object" ? spec.audioTracks.flatMap(({ url }) => url ?? []) : [];

/** Fetches the files one after the other, because they may be large. Rejects as `fetchExtra` does. */
export async function fetchAudio({ outputs, folder, ffprobe, ...deps }: FetchAudio): Promise<FetchedAudio> {
  const fetched = new Map<string, Result<AudioFile>>();
  for (const url of new Set(outputs.flatMap(audioUrls))) {
    const path = join(folder, `audio-${fetched.size + 1}`);
    let probe: MediaProbe = { streams: [], format: {} };
    const check = async (): Promise<void> => {
      probe = await probeSource(ffprobe, path, deps.signal);
      const audio = chosenAudio(probe.streams);
      const reason = audio ? undecodable(audio) : null;
      if (!audio) throw new AppError("input_not_media", "The file has no audio");
      if (reason) throw new AppError("input_track_not_found", reason.reason.replace("The input's", "its"));
    };
    const result = await fetchExtra({ ...KIND, url, path }, check, deps);
    fetched.set(url, result.ok ? { ok: true, value: { url, path, probe } } : result);
  }
  return fetched;
}

const KIND = {
  subject: "The audio track",
  code: "input_track_not_found",
  maxBytes: MAX_BYTES,
  expected: "a file with audio",
} as const;
