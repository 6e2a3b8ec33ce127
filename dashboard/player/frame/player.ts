// A medium on the screen: a video element, its engine, and its state as signals.
import { signal } from "@preact/signals";
import type { Medium, Problem } from "../messages.ts";
import { examine, reasonOf } from "./diagnose.ts";
import type { Engine, EngineEvents, Failure } from "./engines/engine.ts";
import { openFile } from "./engines/file-engine.ts";
import { frameSecondsOf } from "./steps.ts";

/** Number of recent frame timestamps to remember. */
const SEEN = 24;

export type Player = ReturnType<typeof createPlayer>;

/** Starts to load a medium. Calls `report` at most once, with the reason why the medium does not play. */
export function createPlayer(medium: Medium, report: (problem: Omit<Problem, "medium">) => void) {
  const video = document.createElement("video");
  video.playsInline = true;
  video.preload = "auto";
  video.tabIndex = -1;
  const seen: number[] = [];
  const state = {
    /** Position in the medium, in seconds. */
    time: signal(0),
    /** The known length in seconds. It grows while a stream is encoded. */
    length: signal(0),
    isPlaying: signal(false),
    /** True while the medium waits for data. */
    isWaiting: signal(true),
    hasEnded: signal(false),
    /** The timestamp of the visible frame; null for audio, or before the first frame. */
    frame: signal<number | null>(null),
    size: signal<{ width: number; height: number } | null>(null),
    qualities: signal<readonly string[]>([]),
    quality: signal(-1),
    captions: signal<readonly string[]>([]),
    failed: signal(false),
  };
  let engine: Engine | undefined;
  let isClosed = false;

  const onFrame = (_: number, { mediaTime }: VideoFrameCallbackMetadata): void => {
    state.frame.value = mediaTime;
    state.time.value = video.currentTime;
    if (seen.push(mediaTime) > SEEN) seen.shift();
    video.requestVideoFrameCallback(onFrame);
  };
  video.requestVideoFrameCallback?.(onFrame);
  const update = (): void => {
    const { seekable, duration } = video;
    const end = seekable.length > 0 ? seekable.end(seekable.length - 1) : 0;
    state.length.value = Number.isFinite(duration) ? duration : end;
    state.time.value = video.currentTime;
    state.isPlaying.value = !video.paused;
    state.hasEnded.value = video.ended;
    // 3 is HAVE_FUTURE_DATA; there is no future data at the end.
    state.isWaiting.value =
      video.seeking || (video.readyState < 3 && !video.ended && !(video.paused && video.readyState === 2));
    const { videoWidth: width, videoHeight: height } = video;
    const known = state.size.value;
    if (video.readyState === 0 || (known?.width === width && known.height === height)) return;
    state.size.value = { width, height };
    // Browsers play the audio of files whose video they cannot decode.
    if (width === 0 && medium.hasVideo)
      fail({ url: "", status: null, codec: true, detail: "Only its audio can be decoded" });
  };
  for (const name of [
    ...["loadedmetadata", "loadeddata", "canplay", "durationchange", "progress", "timeupdate", "resize"],
    ...["play", "playing", "pause", "waiting", "stalled", "seeking", "seeked", "ended"],
  ]) {
    video.addEventListener(name, update);
  }

  const fail = (failure: Failure): void => {
    if (isClosed || state.failed.value) return;
    state.failed.value = true;
    explain(failure, medium).then(report, () => undefined);
  };
  const events: EngineEvents = {
    changed: () => {
      state.qualities.value = engine?.qualities() ?? [];
      state.quality.value = engine?.quality() ?? -1;
      state.captions.value = engine?.captions() ?? [];
    },
    failed: fail,
  };
  openEngine(video, medium, events).then(
    (opened) => {
      engine = opened;
      if (isClosed) engine.close();
      else events.changed();
    },
    (error: unknown) => fail({ url: "", status: null, codec: false, detail: String(error) }),
  );

  return {
    medium,
    video,
    ...state,
    /** The position of the medium's time 0 in the source of the job, in seconds. */
    offset: () => medium.offset - (engine?.ahead() ?? 0),
    frameSeconds: () => frameSecondsOf(medium.frameRate, seen),
    chooseQuality: (quality: number) => {
      engine?.chooseQuality(quality);
    },
    chooseCaptions: (track: number) => engine?.chooseCaptions(track),
    close: () => {
      isClosed = true;
      engine?.close();
    },
  };
}

/** Opens the engine for a medium. hls.js and dash.js are loaded only for media that need them. */
async function openEngine(video: HTMLVideoElement, { kind, source }: Medium, events: EngineEvents): Promise<Engine> {
  if (kind === "file" || typeof source !== "string") return openFile(video, source, events);
  if (kind === "hls") return (await import("./engines/hls-engine.ts")).openHls(video, source, events);
  return (await import("./engines/dash-engine.ts")).openDash(video, source, events);
}

async function explain({ url, status, codec, detail }: Failure, { kind }: Medium): Promise<Omit<Problem, "medium">> {
  if (codec) return { reason: "codec", detail };
  if (status !== null && status >= 400) return { reason: reasonOf({ status, answers: true }, true), detail };
  if (!/^https?:/i.test(url)) return { reason: "other", detail };
  return { reason: reasonOf(await examine(url), kind !== "file"), detail };
}
