// Fits, crops and backdrops in real runs. The color of each pixel of the sources is its place.
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few } from "../../testing/few.ts";
import { look, lossless, makeBoth } from "../../testing/jobs/chunked-encodes.ts";
import { type Bitmap, decode, encodeClip, encodeOne, firstFrame, probe } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";

const [WIDTH, HEIGHT] = [256, 144];
/** Red is the column and green is the row. */
const PLACES = `-f lavfi -i nullsrc=s=${WIDTH}x${HEIGHT}:r=10:d=0.3,format=gbrp,geq=r=X:g=Y:b=128`;
const X264 = "-c:v libx264 -preset ultrafast -qp 0 -bf 2";
const TAGS = "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv";
const TO_709 = "scale=out_color_matrix=bt709:out_range=tv";
const moving = (size: string, seconds: number): string =>
  `-f lavfi -i testsrc2=s=${size}:r=25:d=${seconds} -pix_fmt yuv420p ${X264} -g 25 ${TAGS}`;

const folder = fileFolder();
const clip = (name: string): string => path.join(folder, name);
clipsOfFile(folder, {
  "places.png": `${PLACES} -frames:v 1`,
  "clear.png": `${PLACES},format=gbrap,geq=r=r(X\\,Y):g=g(X\\,Y):b=128:a=255*gte(X\\,128) -frames:v 1`,
  "places.mov": `${PLACES} -c:v png`,
  "rotated.mov": "-display_rotation -90 -i places.mov -c copy",
  "wide-pixels.mov": `-i places.mov -vf scale=128:144:flags=area,setsar=2/1 -c:v png`,
  "places.mp4": `${PLACES},${TO_709},format=yuv420p ${TAGS} ${X264}`,
  "moving.mp4": moving("320x180", 4),
  "wide.ts": `${moving("320x180", 1)} -f mpegts`,
  "tall.ts": `${moving("180x320", 1)} -f mpegts`,
  "both.ts": "-i concat:wide.ts|tall.ts -c copy",
});

type Place = readonly [x: number, y: number];
/** A part of a frame, in pixels. */
type Area = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** Checks that the corners of an area show these places of the source. Pixels may be one pixel off. */
function expectCorners(frame: Bitmap, area: Area, [left, top]: Place, [right, bottom]: Place): void {
  const tolerance = (shown: number, pixels: number): number => Math.max(1, shown / pixels) + 1;
  const across = tolerance(right - left, area.width);
  const down = tolerance(bottom - top, area.height);
  for (const [column, x] of [left, right].entries()) {
    for (const [row, y] of [top, bottom].entries()) {
      const [red = -99, green = -99] = frame.at(area.x + column * (area.width - 1), area.y + row * (area.height - 1));
      expect([column, row, Math.abs(red - x) <= across, Math.abs(green - y) <= down]).toEqual([
        column,
        row,
        true,
        true,
      ]);
    }
  }
}

const ALL: Place = [WIDTH - 1, HEIGHT - 1];

/** The place of the whole source in a frame. */
function insideOf(width: number, height: number): Area {
  const factor = Math.min(width / WIDTH, height / HEIGHT);
  const area = { width: Math.round(WIDTH * factor), height: Math.round(HEIGHT * factor) };
  return { x: Math.floor((width - area.width) / 2), y: Math.floor((height - area.height) / 2), ...area };
}

/** The first place of the part that `crop` keeps, around a focus. */
function keptFrom(width: number, height: number, focus: Place): Place {
  const factor = Math.max(width / WIDTH, height / HEIGHT);
  return [(WIDTH - width / factor) * focus[0], (HEIGHT - height / factor) * focus[1]];
}

const fitted = (format: string, ...fits: readonly Readonly<Record<string, unknown>>[]): OutputOptions[] =>
  fits.map((params) => ({ format, params }));
const BARS = { fit: "pad", pad_color: "#FF4080" };

describe("fits", () => {
  const SHAPES = ["90x160", "161x91", "256x72", "128x128", "256x144", "64x200", "200x64", "255x143", "300x300"];

  few(3).each(SHAPES)("put the corners of the source into frames of %s", async (size) => {
    const [width = 0, height = 0] = size.split("x").map(Number);
    const whole = { x: 0, y: 0, width, height };
    const crops = [{ fit: "crop" }, { fit: "crop", crop_focus: { x: 0.25, y: 1 } }];
    const requests = fitted(`png:${size}`, BARS, { fit: "blur" }, { fit: "stretch" }, ...crops);
    const { files } = await encodeClip(clip("places.png"), requests);
    const [bars, blurred, stretched, center, focused] = await Promise.all([...files.values()].flat().map(firstFrame));
    if (!bars || !blurred || !stretched || !center || !focused) throw new Error("An image is missing");
    const inside = insideOf(width, height);
    for (const frame of [bars, blurred]) expectCorners(frame, inside, [0, 0], ALL);
    expectCorners(stretched, whole, [0, 0], ALL);
    for (const [frame, place] of [
      [center, [0.5, 0.5]],
      [focused, [0.25, 1]],
    ] as const) {
      const [x, y] = keptFrom(width, height, place);
      const factor = Math.max(width / WIDTH, height / HEIGHT);
      expectCorners(frame, whole, [x, y], [x + width / factor - 1, y + height / factor - 1]);
    }
    if (inside.x === 0 && inside.y === 0) return;
    expect(bars.at(0, 0)).toEqual([255, 64, 128]);
    // The backdrop has the colors of the part that covers the frame.
    const [x, y] = keptFrom(width, height, [0.5, 0.5]);
    const [red = 0, green = 0, blue = 0] = blurred.at(0, 0);
    for (const distance of [red - x, green - y]) expect(Math.abs(distance)).toBeLessThan(40);
    expect(Math.abs(blue - 128)).toBeLessThanOrEqual(1);
  });

  const FORMATS = ["mp4:90x160", "mp4:hevc_90x160::pix_fmt=yuv420p10le", "mov:prores-ks_90x160"];

  few(2).each(FORMATS)("of %s have bars of the exact color, and the active area on a backdrop", async (format) => {
    const { files } = await encodeClip(clip("places.mp4"), fitted(format, BARS, { fit: "blur" }));
    const [bars, blurred] = await Promise.all([...files.values()].flat().map(firstFrame));
    for (const [channel, value] of [255, 64, 128].entries())
      expect(Math.abs((bars?.at(45, 20)[channel] ?? 0) - value)).toBeLessThanOrEqual(3);
    const [red = 0, green = 0] = blurred?.at(45, 80) ?? [];
    expect([Math.abs(red - 128) < 8, Math.abs(green - 72) < 8]).toEqual([true, true]);
    expect(blurred?.at(45, 10)[2]).toBeGreaterThan(90);
  });

  test("keep transparent and opaque parts of images", async () => {
    const file = await encodeOne(clip("clear.png"), { format: "png:128x128", params: { fit: "blur" } });
    const pixels = await decode(file, "format=rgba", "rgba");
    const alpha = (x: number, y: number) => pixels[(y * 128 + x) * 4 + 3];
    expect([alpha(2, 64), alpha(126, 64), alpha(2, 4), alpha(126, 4)]).toEqual([0, 255, 0, 255]);
  });

  test("keep the size of the frames if the shape of the source changes", async () => {
    const { files } = await encodeClip(clip("both.ts"), fitted("mp4:180x320", { fit: "blur" }, { fit: "stretch" }));
    for (const file of [...files.values()].flat()) {
      const [video] = (await probe(file)).streams;
      expect([video?.width, video?.height, video?.nb_read_packets]).toEqual([180, 320, "50"]);
    }
  });
});

describe("crops", () => {
  const of = (x: unknown, y: unknown, width: unknown, height: unknown) => ({ crop: { x, y, width, height } });
  const TURNED = { ...of(10, 20, "50%", 100), transpose: 2 };
  const RIGHT = { ...of(56, 0, 100, 50), fit: "crop", crop_focus: { x: 1 } };

  few(3).each<[string, string, Record<string, unknown>, string, Place, Place]>([
    ["places.png", "png", of(10, 21, 101, 51), "101x51", [10, 21], [110, 71]],
    ["rotated.mov", "png", TURNED, "100x72", [20, 62], [119, 133]],
    ["wide-pixels.mov", "png", of("25%", 40, "50%", "50%"), "128x72", [64, 40], [191, 111]],
    ["places.png", "png:32x", of("12.5%", 0, "25%", "100%"), "32x72", [32, 0], [95, 143]],
    // YUV starts and ends at even pixels.
    ["places.mp4", "png", of(31, 21, 100, 51), "100x50", [32, 22], [131, 71]],
    ["places.png", "png:40x", { square: true, crop_focus: { x: 0 } }, "40x40", [0, 0], [143, 143]],
    ["places.png", "png:40x", { square: true, crop_focus: { x: 1 } }, "40x40", [112, 0], [255, 143]],
    ["places.png", "png:50x50", RIGHT, "50x50", [106, 0], [155, 49]],
  ])("show the rectangle of %s as %s with %j", async (name, format, params, size, from, to) => {
    const file = await encodeOne(clip(name), { format, params });
    const { width = 0, height = 0 } = (await probe(file)).streams[0] ?? {};
    expect(`${width}x${height}`).toBe(size);
    // Chroma of half the size is wrong at the edges.
    const edge = name.endsWith("mp4") ? 3 : 0;
    const area = { x: edge, y: edge, width: width - 2 * edge, height: height - 2 * edge };
    expectCorners(await firstFrame(file), area, [from[0] + edge, from[1] + edge], [to[0] - edge, to[1] - edge]);
  });

  test("fail beyond the source, alone", async () => {
    const rectangles = [of(200, 0, 100, 50), of(0, 0, "5%", 50), of(156, 0, 100, "100%")];
    const { failures, files } = await encodeClip(clip("places.png"), fitted("png", ...rectangles));
    expect(failures.map(({ output, failure }) => `${output} ${failure.code}: ${failure.message}`)).toEqual([
      "0 crop_not_possible: The rectangle of `crop` reaches to 300x50 pixels, and the input's frames have 256x144.",
      "1 crop_not_possible: The rectangle of `crop` has a side below 16 pixels, because the input's frames have 256x144.",
    ]);
    expect([...files.keys()]).toEqual([2]);
  });
});

test("blurred backdrops, crops and colored bars are the same in chunks as in the whole", async () => {
  const cropped = { crop: { x: "10%", y: 0, width: "70%", height: "90%" }, fit: "blur" };
  const requests = [
    ...fitted("mp4:180x320:noaudio", cropped, { pad_color: "#101820" }),
    ...fitted("mp4:160x160_15fps:noaudio", { fit: "crop", crop_focus: { x: 0.1 } }),
  ];
  const { whole, joined } = await makeBoth(clip("moving.mp4"), requests, [2], lossless);
  const hashesOf = ({ folder, outputs }: typeof whole) =>
    Promise.all(
      outputs.map(async ({ files: [file = ""] }) =>
        (await look(path.join(folder, file))).frames.map(({ hash }) => hash),
      ),
    );
  const hashes = await hashesOf(whole);
  expect(hashes.map(({ length }) => length)).toEqual([100, 100, 60]);
  expect(await hashesOf(joined)).toEqual(hashes);
});
