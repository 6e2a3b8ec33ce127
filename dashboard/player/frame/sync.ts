// Two media in step: one leads, the other follows.

/** Beyond this distance, a seek is quicker than a change of speed; seconds. */
const SEEK_BEYOND = 0.4;
/** The largest change of the speed. It is invisible, and closes a gap of 0.4 s in four seconds. */
const MAX_CHANGE = 0.1;

export type Pair = {
  /** Positions of the leader and the follower, each in seconds of its medium. */
  readonly leader: number;
  readonly follower: number;
  /** The follower's clock minus the leader's, in seconds. */
  readonly shift: number;
  /** The speed of the leader; 1 is normal. */
  readonly rate: number;
  readonly frameSeconds: number;
};

/** The follower's speed, and its seek target; `seek` is null if the speed is enough. */
export function correction({ leader, follower, shift, rate, frameSeconds }: Pair): {
  rate: number;
  seek: number | null;
} {
  const wanted = leader + shift;
  const ahead = follower - wanted;
  if (Math.abs(ahead) > SEEK_BEYOND) return { rate, seek: Math.max(0, wanted) };
  if (Math.abs(ahead) < frameSeconds / 3) return { rate, seek: null };
  const change = Math.min(MAX_CHANGE, Math.max(-MAX_CHANGE, ahead));
  return { rate: rate * (1 - change), seek: null };
}
