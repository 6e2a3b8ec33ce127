// The interface of engines that play a medium in a video element: the browser itself, hls.js or dash.js.

/** `url`: the URL that could not be loaded, or the medium's URL; `status`: the status of the response, if any. */
export type Failure = {
  readonly url: string;
  readonly status: number | null;
  /** True if the medium was loaded but cannot be decoded. */
  readonly codec: boolean;
  readonly detail: string;
};

export type EngineEvents = {
  /** Called when the qualities, the captions or the chosen quality change. */
  readonly changed: () => void;
  /** Called when playback ends with an error. */
  readonly failed: (failure: Failure) => void;
};

export type Engine = {
  /** Names of the qualities; with fewer than two there is no choice. */
  readonly qualities: () => readonly string[];
  /** Chooses a quality by its index in `qualities`; -1: the player chooses. */
  readonly chooseQuality: (quality: number) => void;
  /** The index of the present quality. */
  readonly quality: () => number;
  readonly captions: () => readonly string[];
  /** Chooses captions by their index in `captions`; -1: no captions. */
  readonly chooseCaptions: (track: number) => void;
  /** The player's clock minus the medium's, in seconds. */
  readonly ahead: () => number;
  readonly close: () => void;
};

/** `720p · 2.1 Mbit/s`. */
export function qualityName(height: number, bitsPerSecond: number): string {
  const rate =
    bitsPerSecond >= 1e6 ? `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s` : `${Math.round(bitsPerSecond / 1000)} kbit/s`;
  return height > 0 ? `${height}p · ${rate}` : rate;
}
