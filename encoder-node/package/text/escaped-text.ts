// Escapes the text of cues that ffmpeg has written.
import type { WebVtt } from "./subtitle-cues.ts";

/** Tags that ffmpeg's encoder of WebVTT writes (webvttenc.c). It does not escape the text between them. */
const TAG_OR_SPECIAL = /<\/?[biu]>|<|>|&(?!(?:amp|lt|gt|nbsp|lrm|rlm);)/g;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Escapes the characters that WebVTT reserves, except for tags of ffmpeg and for character references. */
export const escapedCues = ({ definitions, cues }: WebVtt): WebVtt => ({
  definitions,
  cues: cues.map((cue) => ({ ...cue, text: cue.text.replaceAll(TAG_OR_SPECIAL, (found) => ESCAPES[found] ?? found) })),
});
