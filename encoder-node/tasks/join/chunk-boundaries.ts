// Compares a joined video with its plan at the chunk boundaries. Pure.
import type { ChunkBoundaryCheck } from "#shared/protocol/chunks.ts";
import { timestampErrorUs } from "../chunk/chunk-check.ts";
import { trackKey } from "../chunk/fetch-chunks.ts";
import { endMs, type JoinedChunk, type JoinedTracks } from "./join-tracks.ts";

/**
 * Frames are counted in the first video track, timestamps in all tracks. The audio is from the first output with audio.
 */
export function checkChunkBoundaries({ chunks, audio }: JoinedTracks): ChunkBoundaryCheck {
  const [first] = chunks;
  const ofTrack = first ? chunks.filter(({ planned }) => trackKey(planned) === trackKey(first.planned)) : [];
  const errors = chunks.map(({ planned, facts }) => timestampErrorUs(facts, planned.firstUs));
  return {
    framesPlanned: ofTrack.reduce((sum, { planned, facts }) => sum + (planned.frames ?? facts.frames), 0),
    framesJoined: ofTrack.reduce((sum, { facts }) => sum + facts.frames, 0),
    largestErrorUs: errors.reduce((largest, error) => Math.max(largest, error), 0),
    videoOverAudioMs: videoOverAudioMs(chunks, audio),
  };
}

function videoOverAudioMs(chunks: readonly JoinedChunk[], [audio]: JoinedTracks["audio"]): number | null {
  const video = chunks.filter(({ planned }) => planned.output === audio?.output);
  if (!audio || video.length === 0) return null;
  const videoMs = video.reduce((latest, { facts }) => Math.max(latest, endMs(facts)), 0);
  return videoMs - audio.endMs;
}
