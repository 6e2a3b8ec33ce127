// HLS with hls.js. The browser plays HLS itself only if it has no Media Source Extensions: Chrome 141 and later claim
// to play HLS, and fail with real streams (hls.js #7827).
import Hls from "hls.js";
import { type Engine, type EngineEvents, qualityName } from "./engine.ts";
import { openFile } from "./file-engine.ts";

/** The timestamp of time 0 in our streams, in seconds (docs/streams.md, "Segments"). */
const FIRST_TIMESTAMP = 10;
/** Streams of other services may start at any timestamp. */
const MAX_AHEAD = 0.5;

export function openHls(video: HTMLVideoElement, url: string, events: EngineEvents): Engine {
  if (!Hls.isSupported()) return openFile(video, url, events);
  const hls = new Hls({
    // Pages without an origin may not start workers.
    enableWorker: false,
    // Starts growing streams from their first segment, too.
    startPosition: 0,
    // Text comes in playlists of its own: captions in the video would be shown twice.
    enableCEA708Captions: false,
    enableIMSC1: false,
  });
  let recovered = false;
  hls.on(Hls.Events.ERROR, (_, { fatal, type, details, error, response, url: failedUrl, frag }) => {
    if (!fatal) return;
    if (
      type === Hls.ErrorTypes.MEDIA_ERROR &&
      !recovered &&
      details !== Hls.ErrorDetails.MANIFEST_INCOMPATIBLE_CODECS_ERROR
    ) {
      recovered = true;
      hls.recoverMediaError();
      return;
    }
    const codec = type === Hls.ErrorTypes.MEDIA_ERROR || type === Hls.ErrorTypes.MUX_ERROR;
    const at = failedUrl ?? frag?.url ?? url;
    events.failed({ url: at, status: response?.code || null, codec, detail: `${details}: ${error.message}` });
    hls.stopLoad();
  });
  for (const event of [
    Hls.Events.MANIFEST_PARSED,
    Hls.Events.LEVEL_SWITCHED,
    Hls.Events.SUBTITLE_TRACKS_UPDATED,
  ] as const) {
    hls.on(event, events.changed);
  }
  let ahead = 0;
  hls.on(Hls.Events.INIT_PTS_FOUND, (_, { initPTS, timescale }) => {
    // hls.js sets time 0 to the first decoding timestamp, which is before the presentation timestamp of the first
    // frame.
    const difference = FIRST_TIMESTAMP - initPTS / timescale;
    ahead = Math.abs(difference) < MAX_AHEAD ? difference : 0;
  });
  hls.loadSource(url);
  hls.attachMedia(video);
  return {
    qualities: () => hls.levels.map(({ height, bitrate }) => qualityName(height, bitrate)),
    chooseQuality: (quality) => {
      hls.nextLevel = quality;
    },
    quality: () => hls.currentLevel,
    captions: () => hls.subtitleTracks.map(({ name }) => name),
    chooseCaptions: (track) => {
      hls.subtitleDisplay = track >= 0;
      hls.subtitleTrack = track;
    },
    ahead: () => ahead,
    close: () => hls.destroy(),
  };
}
