// How a joined film compares with its plan. Pure.
import type { SeamReceipt } from "#shared/protocol/chunking.ts";
import { timeErrorUs } from "../chunk/chunk-check.ts";
import { trackKey } from "./fetch-chunks.ts";
import { endMs, type JoinedChunk, type JoinedFilm } from "./join-tracks.ts";

/** Frames are those of the film's first track, and times those of the first frames of all chunks, in all tracks; sound is that of the first output that has any. */
export function seamReceipt({ chunks, sounds }: JoinedFilm): SeamReceipt {
  const [first] = chunks;
  const own = first ? chunks.filter(({ planned }) => trackKey(planned) === trackKey(first.planned)) : [];
  const errors = chunks.map(({ planned, facts }) => timeErrorUs(facts, planned.firstUs));
  return {
    framesPlanned: own.reduce((sum, { planned, facts }) => sum + (planned.frames ?? facts.frames), 0),
    framesJoined: own.reduce((sum, { facts }) => sum + facts.frames, 0),
    largestErrorUs: errors.reduce((largest, error) => Math.max(largest, error), 0),
    pictureOverSoundMs: pictureOverSoundMs(chunks, sounds),
  };
}

function pictureOverSoundMs(chunks: readonly JoinedChunk[], sounds: JoinedFilm["sounds"]): number | null {
  const [sound] = sounds;
  const pictures = chunks.filter(({ planned }) => planned.output === sound?.output);
  if (!sound || pictures.length === 0) return null;
  const pictureMs = pictures.reduce((latest, { facts }) => Math.max(latest, endMs(facts)), 0);
  return pictureMs - sound.endMs;
}
