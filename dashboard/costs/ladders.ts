// What the cost calculator offers to make of each video. Pure data.
import type { Tier } from "../core/list-prices.ts";

export type Ladder = {
  readonly id: string;
  readonly title: string;
  /** As in a request; of a source of 1080p. */
  readonly outputs: Readonly<Record<string, object>>;
  /** Minutes of output by tier for each minute of video (docs/usage.md). */
  readonly renditions: Readonly<Record<Tier, number>>;
  /** Hours of one core for an hour of video: bench/core-hours.ts, whose clip is 1080p at 30 fps with grain. */
  readonly coreHours: number;
  /** US dollars for a million jobs: docs/costs.md, `What one job costs`; for a stream, for each 10 minutes of it. */
  readonly perMillion: number;
  readonly isStream: boolean;
};

export const LADDERS = [
  {
    id: "file",
    title: "one MP4 of 720p",
    outputs: { "mp4:720p": { path: "720p.mp4" } },
    renditions: { audio: 0, sd: 0, hd: 1, uhd: 0 },
    coreHours: 1.32,
    ...{ perMillion: 40.7, isStream: false },
  },
  {
    id: "files",
    title: "MP4 of 1080p, 720p and 480p",
    outputs: {
      "mp4:1080p": { path: "1080p.mp4" },
      "mp4:720p": { path: "720p.mp4" },
      "mp4:480p": { path: "480p.mp4" },
    },
    renditions: { audio: 0, sd: 1, hd: 2, uhd: 0 },
    coreHours: 3.93,
    ...{ perMillion: 68.3, isStream: false },
  },
  {
    id: "stream",
    title: "HLS and DASH, 240p to 1080p",
    outputs: { httpstream: { hls: { path: "hls" }, dash: { path: "dash" } } },
    // 1080p and 720p; 480p, 360p and 240p.
    renditions: { audio: 0, sd: 3, hd: 2, uhd: 0 },
    coreHours: 4.4,
    ...{ perMillion: 91.1, isStream: true },
  },
] as const satisfies readonly Ladder[];
