/// <reference lib="dom" />
// The interface between the page and either player.
import type { Level } from "../play-report.ts";

export type Blame = (what: string, detail: string, fatal?: boolean) => void;

export interface Player {
  /** Rejects when the entry playlist cannot be played. */
  open(url: string): Promise<void>;
  levels(): Level[];
  /** Audio tracks of the chosen group, each once. */
  audio(): { language: string; name: string }[];
  /** The name of the audio track that plays. */
  playingAudio(): string;
  selectAudio(track: number): void;
  /** Selects the track with video of this height; hls.js has a single track with all levels. */
  selectVideo(height: number): void;
  subtitles(): { language: string; name: string }[];
  /**
   * Plays this level alone from now on, by its index in `levels`. `buffered`: other levels in the buffer are dropped or
   * still played.
   */
  force(level: number, buffered: "dropped" | "played"): void;
  /** Null disables subtitles. */
  selectSubtitles(track: number | null): void;
}
