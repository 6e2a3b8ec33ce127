import { expect, test } from "vitest";
import { fitFrame, squareSide } from "./fit-frame.ts";

type Row = [source: string, requested: string, step: 1 | 2, expected: string];

/** `1280x720` or, with automatic sides, `x240`. */
const sides = (text: string): { width: number | null; height: number | null } => {
  const [width, height] = text.split("x").map((digits) => (digits ? Number(digits) : null));
  return { width: width ?? null, height: height ?? null };
};
const size = (text: string): { width: number; height: number } => {
  const { width, height } = sides(text);
  return { width: width ?? 0, height: height ?? 0 };
};

/** `frame`, or `frame activeArea@x,y` if there is padding. */
const fitted = (source: string, requested: string, step: 1 | 2): string => {
  const { frame, activeArea, pad } = fitFrame(size(source), sides(requested), step);
  const text = `${frame.width}x${frame.height}`;
  return pad ? `${text} ${activeArea.width}x${activeArea.height}@${pad.x},${pad.y}` : text;
};

test.each<Row>([
  // No size: the source's own, made even for video.
  ["1920x1080", "x", 2, "1920x1080"],
  ["641x361", "x", 2, "642x362"],
  ["641x361", "x", 1, "641x361"],
  ["1x1", "x", 2, "2x2"],
  // A single side: the other side follows.
  ["1920x1080", "x240", 2, "426x240"],
  ["1920x1080", "x480", 2, "854x480"],
  ["1920x1080", "600x", 2, "600x338"],
  ["1920x1080", "600x", 1, "600x338"],
  ["1920x1080", "301x", 2, "302x170"],
  ["1920x1080", "301x", 1, "301x169"],
  ["1080x1920", "x240", 2, "136x240"],
  ["4096x16", "100x", 2, "100x2"],
  ["16x4096", "x10", 1, "2x10"],
  ["640x360", "1x", 2, "2x2"],
  // Two sides: a box.
  ["1920x1080", "1280x720", 2, "1280x720"],
  ["640x360", "3840x2160", 2, "3840x2160"],
  ["1440x1080", "1280x720", 2, "1280x720 960x720@160,0"],
  ["1080x1920", "1280x720", 2, "1280x720 406x720@436,0"],
  ["2048x858", "1920x1080", 2, "1920x1080 1920x804@0,138"],
  ["1920x1088", "1280x720", 2, "1280x720 1270x720@4,0"],
  ["641x361", "640x360", 2, "640x360"],
  ["1000x1000", "301x201", 2, "302x202 202x202@50,0"],
  ["1000x1000", "301x200", 1, "301x200 200x200@50,0"],
  ["4096x16", "100x100", 2, "100x100 100x2@0,48"],
  ["1920x1080", "1x1", 1, "1x1"],
  // The display size of a PAL frame of 720×576 stored pixels.
  ["1024x576", "1280x720", 2, "1280x720"],
  ["1024x576", "640x480", 2, "640x480 640x360@0,60"],
])("%s into %s in steps of %i is %s", (source, requested, step, expected) => {
  expect(fitted(source, requested, step)).toBe(expected);
});

test.each([
  ["1920x1080", "x", 1080],
  ["1920x1080", "300x200", 300],
  ["1920x1080", "x201", 201],
  ["1x1", "x", 2],
])("the square of %s as %s has a side of %i", (source, requested, side) => {
  expect(squareSide(size(source), sides(requested))).toBe(side);
});
