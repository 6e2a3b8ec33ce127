// One medium, or two media in step, with the actions of the page.
import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Opening, Problem } from "../messages.ts";
import { createPlayer, type Player } from "./player.ts";
import { stepTarget } from "./steps.ts";
import { correction } from "./sync.ts";
import { moved, WHOLE, zoomed } from "./zoom.ts";

export const SPEEDS = [0.25, 0.5, 1, 1.5, 2];

export type SideBySide = ReturnType<typeof createSideBySide>;

/** Starts to load the media. The last medium leads: its clock is the clock of both, and its audio is audible. */
export function createSideBySide(opening: Opening, report: (problem: Problem) => void) {
  const all = opening.media.map((medium, index) =>
    createPlayer(medium, (problem) => report({ medium: index, ...problem })),
  );
  const [first] = all;
  const leader = all.at(-1);
  if (!first || !leader) throw new Error("Nothing to play");
  const follower = all.length > 1 ? first : null;

  const wantsToPlay = signal(false);
  const rate = signal(1);
  const muted = signal(false);
  /** The medium that is visible and audible. `both`: both media are visible, and the leader is audible. */
  const front = signal<"both" | "first" | "last">("both");
  /** The shift of the first medium, in its frames. */
  const shiftFrames = signal(0);
  const view = signal(WHOLE);

  const shift = (): number =>
    follower ? leader.offset() - follower.offset() + shiftFrames.value * follower.frameSeconds() : 0;
  const follow = (seconds: number): void => {
    if (follower && !follower.failed.value) follower.video.currentTime = clampTo(follower, seconds + shift());
  };
  const seek = (seconds: number): void => {
    const target = clampTo(leader, seconds);
    leader.video.currentTime = target;
    leader.time.value = target;
    follow(target);
  };
  /** Seeks both media to corresponding frames. */
  const align = (step: -1 | 0 | 1): void => {
    const timestamp = leader.frame.value ?? leader.time.value;
    seek(stepTarget(timestamp, leader.frameSeconds(), step));
  };
  const pause = (): void => {
    if (!wantsToPlay.value) return;
    wantsToPlay.value = false;
    if (follower) align(0);
  };
  const play = (): void => {
    if (leader.hasEnded.value) seek(0);
    wantsToPlay.value = true;
  };

  const stop = [
    effect(() => keepPlaying(leader, follower, wantsToPlay)),
    effect(() => {
      for (const { video } of all) video.playbackRate = rate.value;
    }),
    effect(() => {
      const heard = front.value === "first" ? first : leader;
      for (const { video } of all) video.muted = muted.value || video !== heard.video;
    }),
    effect(() => {
      if (leader.hasEnded.value) wantsToPlay.value = false;
    }),
    effect(() => {
      if (follower) keepStep(leader, follower, shift(), rate.value);
    }),
  ];

  return {
    all,
    leader,
    follower,
    thumbnails: opening.thumbnails,
    wantsToPlay: wantsToPlay as ReadonlySignal<boolean>,
    rate,
    muted,
    front,
    shiftFrames: shiftFrames as ReadonlySignal<number>,
    view,
    play,
    pause,
    toggle: () => (wantsToPlay.value ? pause() : play()),
    seek,
    skip: (seconds: number) => seek(leader.time.value + seconds),
    step: (direction: -1 | 1) => {
      wantsToPlay.value = false;
      align(direction);
    },
    shiftBy: (frames: number) => {
      shiftFrames.value += frames;
      follow(leader.time.value);
    },
    /** Shows only the first medium; further calls switch between the last and the first medium. */
    swap: () => {
      front.value = front.value === "first" ? "last" : "first";
    },
    showBoth: () => {
      front.value = "both";
    },
    zoom: (step: 1 | -1) => {
      view.value = zoomed(view.value, step);
    },
    move: (x: number, y: number) => {
      view.value = moved(view.value, x, y);
    },
    close: () => {
      for (const end of stop) end();
      for (const player of all) player.close();
    },
  };
}

const clampTo = ({ length }: Player, seconds: number): number => {
  const end = length.peek();
  return Math.max(0, end > 0 ? Math.min(seconds, end) : seconds);
};

/** Plays or pauses. In a comparison, neither medium plays while the other waits for data. */
function keepPlaying(leader: Player, follower: Player | null, wants: { value: boolean }): void {
  const isHeld = follower !== null && !follower.failed.value && follower.isWaiting.value && !follower.hasEnded.value;
  const waits = follower !== null && leader.isWaiting.value;
  start(leader, wants.value && !isHeld, () => {
    wants.value = false;
  });
  if (follower) start(follower, wants.value && !waits && !follower.hasEnded.value && leader.isPlaying.value);
}

function start({ video, failed }: Player, plays: boolean, refused = (): void => undefined): void {
  if (failed.peek() || plays === !video.paused) return;
  if (!plays) return video.pause();
  // Browsers may block audio before the person has touched the page. A pause also rejects the promise.
  video.play().catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "NotAllowedError") refused();
  });
}

/** Runs at each frame of the leader. */
function keepStep(leader: Player, follower: Player, shift: number, rate: number): void {
  if (leader.frame.value === null || !leader.isPlaying.peek() || follower.failed.peek() || follower.video.seeking)
    return;
  const [ahead, behind] = [leader.video.currentTime, follower.video.currentTime];
  const frameSeconds = leader.frameSeconds();
  const next = correction({ leader: ahead, follower: behind, shift, rate, frameSeconds });
  follower.video.playbackRate = next.rate;
  if (next.seek !== null && next.seek <= follower.length.peek()) follower.video.currentTime = next.seek;
}
