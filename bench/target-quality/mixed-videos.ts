// Videos that are mixed from encoded scenes at random, without encoding them again: how near their samples are to them.
import { type KeyframeGroup, type SampleWindow, sampleWindows } from "#shared/plan/target/sample-windows.ts";
import { scoreOf, summarizeVmaf } from "#shared/plan/target/score.ts";

/** A piece between two keyframes of the source: its size there, and the VMAF of its frames when they are encoded. */
export type Piece = { readonly bytes: number; readonly ms: number; readonly vmaf: readonly number[] };
/** The pieces of a clip, in their order. */
export type SceneClip = readonly Piece[];

/** Numbers from 0 to 1, the same in each run (Numerical Recipes, 3rd ed., §7.1.4). */
function numbers(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Two to all of the clips, in parts of one to all of their pieces, up to a length. */
function mixVideo(clips: readonly SceneClip[], lengthMs: number, random: () => number): Piece[] {
  const kinds = clips.toSorted(() => random() - 0.5).slice(0, 2 + Math.floor(random() * (clips.length - 1)));
  const video: Piece[] = [];
  for (let ms = 0; ms < lengthMs; ) {
    const clip = kinds[Math.floor(random() * kinds.length)] ?? [];
    const first = Math.floor(random() * clip.length);
    const part = clip.slice(first, first + 1 + Math.floor(random() * clip.length));
    video.push(...part);
    ms += part.reduce((sum, piece) => sum + piece.ms, 0);
  }
  return video;
}

/** The errors of many videos: the score of the samples less that of the whole video. */
export type Errors = { readonly samples: number; readonly even: number[]; readonly byBits: number[] };

export function sampleErrors(clips: readonly SceneClip[], lengthMs: number, videos: number): Errors {
  const random = numbers();
  const errors: Errors = { samples: sampleWindows({ fromMs: 0, toMs: lengthMs }).length, even: [], byBits: [] };
  for (let at = 0; at < videos; at++) {
    const video = mixVideo(clips, lengthMs, random);
    const groups: KeyframeGroup[] = [];
    let toMs = 0;
    for (const { bytes, ms } of video) {
      groups.push({ fromMs: toMs, bytes });
      toMs += ms;
    }
    const whole = score(video.flatMap(({ vmaf }) => vmaf));
    const sampled = (windows: readonly SampleWindow[]): number =>
      score(windows.flatMap((window) => framesIn(window, video, groups))) - whole;
    errors.even.push(sampled(sampleWindows({ fromMs: 0, toMs })));
    errors.byBits.push(sampled(sampleWindows({ fromMs: 0, toMs }, groups)));
  }
  return errors;
}

const score = (vmaf: readonly number[]): number => scoreOf(summarizeVmaf(vmaf));

/** The frames of a sample, which begins at the keyframe before its place if it may. */
function framesIn(
  { fromMs, lengthMs, earlierMs }: SampleWindow,
  video: readonly Piece[],
  groups: readonly KeyframeGroup[],
): number[] {
  const keyMs = groups.findLast((group) => group.fromMs <= fromMs)?.fromMs ?? 0;
  const startMs = fromMs - keyMs <= earlierMs ? keyMs : fromMs;
  return video.flatMap(({ ms, vmaf }, at) => {
    const beginMs = groups[at]?.fromMs ?? 0;
    return vmaf.filter((_, frame) => {
      const timeMs = beginMs + (frame * ms) / vmaf.length;
      return timeMs >= startMs && timeMs < startMs + lengthMs;
    });
  });
}
