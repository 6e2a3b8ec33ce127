import { expect, test } from "vitest";
import { thumbnailFile } from "./package-files.ts";
import { thumbnailVtt } from "./text-files.ts";

test("cues of the thumbnail file point to the stream's folder", () => {
  const cue = (target: string): string => `00:00:00.000 --> 00:00:02.000\n${target}#xywh=0,0,160,90\n`;
  const vtt = (folder: string): string => ["WEBVTT\n", ...[1, 2].map((n) => cue(folder + thumbnailFile(n)))].join("\n");
  expect(thumbnailVtt(vtt(""), "F_1-2")).toBe(vtt("F_1-2/"));
});
