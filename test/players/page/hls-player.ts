/// <reference lib="dom" />
// hls.js with default settings. With `?log` in the page's URL it logs to the console.
import Hls from "hls.js";
import type { Blame, Player } from "./player.ts";

export function hlsPlayer(video: HTMLVideoElement, blame: Blame): Player {
  const hls = new Hls({ debug: location.search === "?log" });
  hls.on(Hls.Events.ERROR, (_, { details, error, fatal, reason }) => blame(details, reason ?? error.message, fatal));
  return {
    open: (url) =>
      new Promise((resolve, reject) => {
        hls.once(Hls.Events.MANIFEST_PARSED, () => resolve());
        hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && reject(new Error(details)));
        hls.loadSource(url);
        hls.attachMedia(video);
      }),
    levels: () =>
      hls.levels.map(({ url, width, height, bitrate }) => ({ id: url[0] ?? "", width, height, bandwidth: bitrate })),
    audio: () => hls.audioTracks.map(({ lang = "", name }) => ({ language: lang, name })),
    playingAudio: () => hls.audioTracks[hls.audioTrack]?.name ?? "",
    selectAudio(track) {
      hls.audioTrack = track;
    },
    selectVideo(height) {
      hls.nextLevel = hls.levels.findIndex((level) => level.height === height);
    },
    subtitles: () =>
      hls.subtitleTracks.map(({ lang = "", name, forced, characteristics }) => ({
        language: lang,
        name,
        ...(forced ? { isForced: true as const } : {}),
        ...(characteristics?.includes("describes-music-and-sound") ? { isCaptions: true as const } : {}),
      })),
    force(level, buffered) {
      if (buffered === "dropped") hls.currentLevel = level;
      else hls.nextLevel = level;
    },
    selectSubtitles(track) {
      hls.subtitleDisplay = true;
      hls.subtitleTrack = track ?? -1;
    },
  };
}
