// DASH by dash.js.
import { MediaPlayer } from "dashjs";
import { type Engine, type EngineEvents, qualityName } from "./engine.ts";

/**
 * dash.js's codes for loaded media that cannot play: no stream is left, or the browser rejects it (Errors.js, 5.2.1).
 */
const NOT_DECODABLE = new Set([20, 32, 34, 35]);

export function openDash(video: HTMLVideoElement, url: string, events: EngineEvents): Engine {
  const player = MediaPlayer().create();
  const names = MediaPlayer.events;
  player.updateSettings({ debug: { logLevel: 0 } });
  player.on(names.ERROR, ({ error }) => {
    if (typeof error === "string") return events.failed({ url, status: null, codec: false, detail: error });
    const { code, message } = error;
    events.failed({ url, status: null, codec: NOT_DECODABLE.has(Number(code)), detail: message });
  });
  for (const name of [names.STREAM_INITIALIZED, names.QUALITY_CHANGE_RENDERED, names.TEXT_TRACKS_ADDED]) {
    player.on(name, events.changed);
  }
  // dash.js polls the manifest of a growing stream only after a `play` event, which it may have missed.
  player.on(names.STREAM_INITIALIZED, () => {
    if (!video.paused) video.dispatchEvent(new Event("play"));
  });
  // No start time: growing streams start from their first segment, too, as their manifest demands.
  player.initialize(video, url, false);
  const levels = () => player.getRepresentationsByType("video");
  const automatic = (on: boolean): void =>
    player.updateSettings({ streaming: { abr: { autoSwitchBitrate: { video: on } } } });
  return {
    qualities: () => levels().map(({ height, bandwidth }) => qualityName(height, bandwidth)),
    chooseQuality: (quality) => {
      const level = levels()[quality];
      automatic(level === undefined);
      if (level) player.setRepresentationForTypeById("video", level.id, true);
    },
    quality: () => {
      const current = player.getCurrentRepresentationForType("video");
      return levels().findIndex(({ id }) => id === current?.id);
    },
    captions: () => player.getTracksFor("text").map(({ lang, labels }) => labels[0]?.text ?? lang ?? "Subtitles"),
    chooseCaptions: (track) => {
      player.enableText(track >= 0);
      player.setTextTrack(track);
    },
    ahead: () => 0,
    close: () => player.destroy(),
  };
}
