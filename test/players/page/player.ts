/// <reference lib="dom" />
// What the page asks of a player, whichever it is.
import type { Level } from "../play-report.ts";

export type Blame = (what: string, detail: string, fatal?: boolean) => void;

export interface Player {
  /** Rejects when the entry playlist cannot be played. */
  open(url: string): Promise<void>;
  levels(): Level[];
  subtitles(): { language: string; name: string }[];
  /**
   * From now on this level alone, by its place in `levels`; what is buffered of others is thrown away or still played.
   */
  force(level: number, buffered: "dropped" | "played"): void;
  /** Null: none. */
  selectSubtitles(track: number | null): void;
}
