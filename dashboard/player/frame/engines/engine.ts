// What plays a medium in a video element: the browser itself, hls.js or dash.js.

/** `url`: what could not be loaded, or the medium; `status`: the response, if there was one. */
export type Failure = {
  readonly url: string;
  readonly status: number | null;
  /** True if it was loaded and cannot be decoded. */
  readonly codec: boolean;
  readonly detail: string;
};

export type EngineEvents = {
  /** Qualities, captions, or the chosen one changed. */
  readonly changed: () => void;
  /** It does not play on. */
  readonly failed: (failure: Failure) => void;
};

export type Engine = {
  /** Names of the qualities to choose from; fewer than two: no choice. */
  readonly qualities: () => readonly string[];
  /** By its place in `qualities`; -1: the player chooses. */
  readonly chooseQuality: (quality: number) => void;
  /** The place of the one that is played. */
  readonly quality: () => number;
  readonly captions: () => readonly string[];
  /** By its place in `captions`; -1: none. */
  readonly chooseCaptions: (track: number) => void;
  /** How far the player's clock is ahead of the medium's, in seconds. */
  readonly ahead: () => number;
  readonly close: () => void;
};

/** `720p · 2.1 Mbit/s`. */
export function qualityName(height: number, bitsPerSecond: number): string {
  const rate =
    bitsPerSecond >= 1e6 ? `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s` : `${Math.round(bitsPerSecond / 1000)} kbit/s`;
  return height > 0 ? `${height}p · ${rate}` : rate;
}
