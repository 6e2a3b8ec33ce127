/// <reference lib="dom" />
// dash.js with default settings, except that the test chooses the level, and that a hole keeps the video from ending.
// By default, dash.js takes a clock that stands for 0.5 s near the end for a hole, and jumps: so late data and busy
// machines look like defects of the package.
import { type MediaInfo, MediaPlayer } from "dashjs";
import type { Blame, Player } from "./player.ts";

const FAULTS = [MediaPlayer.events.PLAYBACK_STALLED, MediaPlayer.events.FRAGMENT_LOADING_ABANDONED] as const;

export function dashPlayer(video: HTMLVideoElement, blame: Blame): Player {
  const player = MediaPlayer().create();
  player.updateSettings({
    // Warnings, which reach the browser's console.
    debug: { logLevel: 3 },
    streaming: {
      abr: { autoSwitchBitrate: { video: false } },
      gaps: { jumpGaps: false },
      trackSwitchMode: { video: "alwaysReplace" },
    },
  });
  const { events } = MediaPlayer;
  player.on(events.ERROR, ({ error }) => {
    if (typeof error === "string") blame("error", error, true);
    else blame(`error ${error.code}`, error.message, true);
  });
  for (const event of FAULTS) player.on(event, () => blame(event, ""));
  return {
    open: (url) =>
      new Promise((resolve, reject) => {
        player.on(events.STREAM_INITIALIZED, () => resolve());
        player.on(events.ERROR, ({ error }) => reject(new Error(typeof error === "string" ? error : error.message)));
        player.initialize(video, url, false);
      }),
    levels: () =>
      player
        .getRepresentationsByType("video")
        .map(({ id, width, height, bandwidth }) => ({ id, width, height, bandwidth })),
    audio: () =>
      player.getTracksFor("audio").map(({ lang, labels }) => ({ language: lang ?? "", name: labels[0]?.text ?? "" })),
    playingAudio: () => player.getCurrentTrackFor("audio")?.labels[0]?.text ?? "",
    selectAudio(track) {
      const chosen = player.getTracksFor("audio")[track];
      if (chosen) player.setCurrentTrack(chosen);
    },
    selectVideo(height) {
      const heightOf = (track: MediaInfo): number | undefined => track.bitrateList[0]?.height;
      const chosen = player.getTracksFor("video").find((track) => heightOf(track) === height);
      if (chosen) player.setCurrentTrack(chosen);
    },
    subtitles: () =>
      player.getTracksFor("text").map(({ lang, labels, roles }) => {
        const has = (role: string): boolean => (roles ?? []).some(({ value }) => value === role);
        return {
          language: lang ?? "",
          name: labels[0]?.text ?? "",
          ...(has("forced-subtitle") ? { isForced: true as const } : {}),
          ...(has("caption") ? { isCaptions: true as const } : {}),
        };
      }),
    force: (level, buffered) => player.setRepresentationForTypeByIndex("video", level, buffered === "dropped"),
    selectSubtitles: (track) => player.setTextTrack(track ?? -1),
  };
}
