/// <reference lib="dom" />
// The page of a test: a player on a video element, and a record of all events.
import type { Cue, Fault, Frame, Opened, PlayReport } from "../play-report.ts";
import { dashPlayer } from "./dash-player.ts";
import { hlsPlayer } from "./hls-player.ts";
import type { Player } from "./player.ts";
import { readTimeCode } from "./read-time-code.ts";

const video = document.querySelector("video") as HTMLVideoElement;
const faults: Fault[] = [];
const frames: Frame[] = [];
const MICROSECONDS = 1_000_000;
/** A frame this far from the target was shown before the seek. A busy machine shows such frames even after `seeked`. */
const LATE_SECONDS = 0.5;
const SEEK_LIMIT_MS = 20_000;
let player: Player;
/** True while playback may wait: before its start and during seeks. */
let mayWait = true;

function blame(what: string, detail: string, fatal = false): void {
  faults.push({ at: video.currentTime, what, detail, fatal });
}

function watchFrames(): void {
  video.requestVideoFrameCallback(() => {
    frames.push(frameOnScreen());
    watchFrames();
  });
}

/** Time and pixels belong to the same frame, however late this function is called. */
function frameOnScreen(): Frame {
  const frame = new VideoFrame(video);
  const { timestamp, displayHeight } = frame;
  const code = readTimeCode(frame);
  frame.close();
  return { time: timestamp / MICROSECONDS, code, height: displayHeight };
}

video.addEventListener("waiting", () => {
  if (!mayWait) blame("waiting", `ready state ${video.readyState}`);
});
video.addEventListener("playing", () => {
  mayWait = false;
});
video.addEventListener("seeking", () => {
  mayWait = true;
});
video.addEventListener("error", () => blame("media error", video.error?.message ?? "", true));

const until = (events: readonly string[], holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!holds()) return;
      for (const event of events) video.removeEventListener(event, look);
      resolve();
    };
    for (const event of events) video.addEventListener(event, look);
    look();
  });

async function open(kind: "hls" | "dash", url: string): Promise<Opened> {
  player = kind === "hls" ? hlsPlayer(video, blame) : dashPlayer(video, blame);
  watchFrames();
  await player.open(url);
  await until(["loadeddata", "error"], () => video.readyState >= 2 || video.error !== null);
  return {
    durationSeconds: video.duration,
    levels: player.levels(),
    audio: player.audio(),
    subtitles: player.subtitles(),
  };
}

/** Plays until this time of the video, or to its end. */
async function playTo(seconds: number, rate: number): Promise<void> {
  video.playbackRate = rate;
  await video.play();
  await until(
    ["timeupdate", "ended", "error"],
    () => video.currentTime >= seconds || video.ended || video.error !== null,
  );
}

/** Seeks; resolves to the frame that is on the screen afterwards. */
async function seek(seconds: number): Promise<Frame> {
  const seen = frames.length;
  mayWait = true;
  video.currentTime = seconds;
  await until(["seeked", "error"], () => !video.seeking || video.error !== null);
  const deadline = performance.now() + SEEK_LIMIT_MS;
  let frame = await latestFrame(seen);
  while (Math.abs(frame.time - seconds) > LATE_SECONDS && performance.now() < deadline) {
    frame = await latestFrame(frames.length);
  }
  return frame;
}

/** The latest frame after the first `seen` frames, or the current frame if no new frame comes within 1 s. */
async function latestFrame(seen: number): Promise<Frame> {
  const deadline = performance.now() + 1000;
  while (frames.length === seen && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return (frames.length > seen && frames.at(-1)) || frameOnScreen();
}

function force(level: number, buffered: "dropped" | "played"): void {
  if (buffered === "dropped") mayWait = true;
  player.force(level, buffered);
}

/** The cues on the screen. */
const cues = (): Cue[] =>
  [...video.textTracks]
    .filter(({ mode }) => mode !== "disabled")
    .flatMap(({ activeCues }) => [...(activeCues ?? [])])
    .map((cue) => ({ start: cue.startTime, end: cue.endTime, text: "text" in cue ? String(cue.text) : "" }));

/** Shows the captions in the video's frames; returns the names of their channels. */
function showCaptions(): string[] {
  const channels = [...video.textTracks].filter(({ kind }) => kind === "captions");
  for (const channel of channels) channel.mode = "showing";
  return channels.map(({ label }) => label);
}

function report(): PlayReport {
  const { droppedVideoFrames, totalVideoFrames } = video.getVideoPlaybackQuality();
  const { buffered } = video;
  return {
    ended: video.ended,
    time: video.currentTime,
    faults,
    frames,
    buffered: Array.from({ length: buffered.length }, (_, index) => [buffered.start(index), buffered.end(index)]),
    droppedFrames: droppedVideoFrames,
    decodedFrames: totalVideoFrames,
    decodedAudioBytes: "webkitAudioDecodedByteCount" in video ? Number(video.webkitAudioDecodedByteCount) : 0,
  };
}

const stage = {
  open,
  playTo,
  seek,
  force,
  cues,
  showCaptions,
  report,
  pause: () => video.pause(),
  selectSubtitles: (track: number | null) => player.selectSubtitles(track),
  playingAudio: () => player.playingAudio(),
  selectVideo(height: number): void {
    mayWait = true;
    player.selectVideo(height);
  },
  selectAudio(track: number): void {
    mayWait = true;
    player.selectAudio(track);
  },
};
export type Stage = typeof stage;
Object.assign(window, { stage });
