// Overlays in real runs, measured on pixels: places, colors, times, and chunks against the whole.
import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ANCHORS } from "#shared/job/overlays.ts";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { prepareCaptions } from "../../prepare/prepare-captions.ts";
import { everyNth, few } from "../../testing/few.ts";
import { look, lossless, makeBoth, type Shown } from "../../testing/jobs/chunked-encodes.ts";
import { processSource } from "../../testing/jobs/process-source.ts";
import { decode, encodeClip, encodeOne, makeClip, probe, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { placeBurnFiles } from "../../text/burn-in/burn-files.ts";

const X264 = "-c:v libx264 -preset ultrafast -qp 0 -g 25 -pix_fmt yuv420p";
const gray = (rate: string, seconds = 6): string =>
  `-f lavfi -i color=0x808080:s=320x180:r=${rate}:d=${seconds},format=yuv420p ${X264}`;
const CLIPS: Readonly<Record<string, string>> = {
  "25.mp4": `${gray("25")} -bf 2`,
  "ntsc.mkv": gray("30000/1001"),
  // Frames are 10 and 70 ms apart.
  "uneven.mkv": `-f lavfi -i color=0x808080:s=320x180:r=25:d=6,format=yuv420p -vf settb=1/1000,setpts=PTS-30*mod(N\\,2) ${X264} -fps_mode vfr -enc_time_base 1/1000`,
  "long.mp4": gray("25", 60),
  "phone.mp4": "-display_rotation -90 -i 25.mp4 -c copy",
  "hdr.mp4":
    "-f lavfi -i color=0x808080:s=320x180:r=10:d=0.5,format=yuv420p10le -c:v libx265 -x265-params log-level=error " +
    "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc",
  "coded.mov": `${gray("30000/1001", 2)} -timecode 09\\:59\\:58;10`.replaceAll("\\", ""),
  "white.png": "-f lavfi -i color=white:s=64x64 -frames:v 1",
  "red.png": "-f lavfi -i color=0xff0000:s=200x100,format=rgb24 -frames:v 1",
  "half.png": "-f lavfi -i color=0xff0000:s=200x100,format=rgba,geq=r=255:g=0:b=0:a=128 -frames:v 1",
};
const folder = fileFolder();
const clip = (name: string): string => join(folder, name);
beforeAll(async () => {
  for (const [name, argv] of Object.entries(CLIPS)) await makeClip(folder, name, argv);
}, 60_000);

const url = (name: string): string => `https://a.example/${name}`;
const images = new Map(["white.png", "red.png", "half.png"].map((name) => [url(name), clip(name)]));
beforeAll(() => {
  for (const name of ["white.png", "red.png", "half.png"]) images.set(url(name), clip(name));
});
const overlaid = (overlays: readonly object[], format = "png", more: object = {}): OutputOptions => ({
  format,
  params: { overlays, ...more },
});

type Pixel = readonly [red: number, green: number, blue: number];
type Box = { left: number; top: number; right: number; bottom: number };

async function pixelsOf(file: string) {
  const stream = (await probe(file)).streams.find(({ codec_type }) => codec_type === "video");
  const { width = 0, height = 0 } = stream ?? {};
  const bytes = await decode(file, "trim=end_frame=1,format=gbrp", "rgb24");
  const at = (x: number, y: number): Pixel => {
    const from = (y * width + x) * 3;
    return [bytes[from] ?? 0, bytes[from + 1] ?? 0, bytes[from + 2] ?? 0];
  };
  return { width, height, at };
}

/** The rectangle of all pixels like these; right and bottom are exclusive. */
async function boxOf(
  file: string,
  isPart: (pixel: Pixel) => boolean,
): Promise<Box & { width: number; height: number }> {
  const { width, height, at } = await pixelsOf(file);
  const box = { left: width, top: height, right: 0, bottom: 0 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isPart(at(x, y))) continue;
      Object.assign(box, { left: Math.min(box.left, x), right: Math.max(box.right, x + 1) });
      Object.assign(box, { top: Math.min(box.top, y), bottom: Math.max(box.bottom, y + 1) });
    }
  }
  return { ...box, width, height };
}
const isRed = ([red, green]: Pixel): boolean => red > 200 && green < 60;

/** The box of an overlay by its parameters. */
function expectedBox(
  anchor: string,
  [x, y]: readonly number[],
  [w = 0, h = 0]: readonly number[],
  frame: readonly number[],
): Box {
  const [width = 0, height = 0] = frame;
  const place = (side: number, size: number, share: number, distance: number): number =>
    share === 0 ? distance : share === 1 ? side - size - distance : (side - size) / 2 + distance;
  const across = anchor.endsWith("left") ? 0 : anchor.endsWith("right") ? 1 : 0.5;
  const down = anchor.startsWith("top") ? 0 : anchor.startsWith("bottom") ? 1 : 0.5;
  const left = place(width, w, across, (width * (x ?? 0)) / 100);
  const top = place(height, h, down, (height * (y ?? 0)) / 100);
  return { left, top, right: left + w, bottom: top + h };
}

const near = (box: Box, expected: Box, pixels = 1): boolean =>
  (["left", "top", "right", "bottom"] as const).every((side) => Math.abs(box[side] - expected[side]) <= pixels);

describe("an overlaid image", () => {
  it("is at its anchor in its size, for nine anchors and five sizes", async () => {
    // Each anchor and each size; all pairs in the soak.
    const pairs = ANCHORS.flatMap((anchor) => [2, 7.5, 12, 25, 50].map((width) => ({ anchor, width })));
    const cases = everyNth(4, pairs);
    const requests = cases.map(({ anchor, width }) => overlaid([{ url: url("red.png"), anchor, width, x: 3, y: 5 }]));
    const { files } = await encodeClip(clip("25.mp4"), requests, images);
    for (const [at, { anchor, width }] of cases.entries()) {
      const box = await boxOf(files.get(at)?.[0] ?? "", isRed);
      const size = [(320 * width) / 100, (160 * width) / 100];
      const expected = expectedBox(anchor, [3, 5], size, [320, 180]);
      expect([anchor, width, near(box, expected), box, expected]).toEqual([anchor, width, true, box, expected]);
    }
  });

  it.each([
    ["with both sides", "png", { width: 50, height: 10, x: 0, y: 0 }, [160, 18], [320, 180], 0],
    ["with a height", "png", { height: 20, x: 0, y: 0 }, [72, 36], [320, 180], 0],
    ["without a size", "png", { x: 0, y: 0 }, [33, 17], [320, 180], 0],
    ["on the active area of a padded frame", "png:320x320", { width: 50, x: 0, y: 0 }, [160, 80], [320, 180], 70],
  ])("%s has these sides", async (_, format, sides, size, frame, top) => {
    const file = await encodeOne(
      clip("25.mp4"),
      overlaid([{ url: url("red.png"), anchor: "topleft", ...sides }], format),
      images,
    );
    const box = await boxOf(file, isRed);
    const expected = expectedBox("topleft", [0, 0], size, frame);
    expect(near(box, { ...expected, top: expected.top + top, bottom: expected.bottom + top })).toBe(true);
  });

  it("is in its corner of a rotated phone clip, as video and image", async () => {
    for (const format of ["png", "mp4::noaudio"]) {
      const file = await encodeOne(
        clip("phone.mp4"),
        overlaid([{ url: url("red.png"), anchor: "topright", width: 40 }], format),
        images,
      );
      const box = await boxOf(file, isRed);
      expect([box.width, box.height]).toEqual([180, 320]);
      expect(near(box, expectedBox("topright", [2, 2], [72, 36], [180, 320]))).toBe(true);
    }
  });

  it.each([
    ["red.png", 1],
    ["red.png", 0.8],
    ["red.png", 0.25],
    ["half.png", 1],
    ["half.png", 0.5],
  ])("%s is blended with opacity %d", async (name, opacity) => {
    const file = await encodeOne(
      clip("25.mp4"),
      overlaid([{ url: url(name), anchor: "center", width: 50, opacity }]),
      images,
    );
    const { at } = await pixelsOf(file);
    const alpha = (name === "half.png" ? 128 / 255 : 1) * opacity;
    const [base] = at(5, 5);
    const blended = [255, 0, 0].map((value) => Math.round(base + (value - base) * alpha));
    for (const [channel, value] of at(160, 90).entries())
      expect(Math.abs(value - (blended[channel] ?? -9))).toBeLessThanOrEqual(1);
  });

  it("and a timecode have the white of paper in HDR", async () => {
    const overlays = [
      { url: url("white.png"), anchor: "left", width: 30 },
      { timecode: "01:00:00:00", anchor: "right", size: 15 },
    ];
    const request = overlaid(overlays, "mp4:hevc:noaudio:pix_fmt=yuv420p10le");
    const file = await encodeDrawn("hdr.mp4", request);
    const luma = await decode(file, "trim=end_frame=1,extractplanes=y,crop=160:180:0:0", "gray10le");
    const text = await decode(file, "trim=end_frame=1,extractplanes=y,crop=160:180:160:0", "gray10le");
    // PQ of 203 cd/m² is 0.581: 64 + 0.581 · 876 in limited range of 10 bits. Most bright pixels have it.
    for (const plane of [luma, text]) {
      const values = [...new Uint16Array(plane.buffer.slice(plane.byteOffset, plane.byteOffset + plane.length))];
      const bright = values.filter((value) => value > 540).toSorted((a, b) => a - b);
      const median = bright[bright.length >> 1] ?? 0;
      expect([median, Math.abs(median - 573) <= 8]).toEqual([median, true]);
    }
  });
});

const NO_TEXT = { probe: { streams: [], format: {} }, texts: { channels: [], readTexts: () => Promise.reject() } };

/** Writes the texts and fonts of a run. */
async function placerFor(requests: readonly OutputOptions[], fontsFolder: string | null = null) {
  const taskFolder = await mkdtemp(join(folder, "task-"));
  const deps = { allowPrivate: "loopback", signal: new AbortController().signal, fontsFolder } as const;
  const { burns, failed } = await prepareCaptions(
    { outputs: requests.map(specOf), folder: taskFolder, ...NO_TEXT },
    deps,
  );
  if (failed[0]) throw new Error(failed[0].failure.message);
  return (argv: readonly string[], cwd: string) => (burns ? placeBurnFiles(argv, burns, cwd) : Promise.resolve());
}

/** The whole output and its chunks, without loss. */
async function encodeBoth(name: string, requests: readonly OutputOptions[]) {
  const both = await makeBoth(clip(name), requests, [2, 4], lossless, await placerFor(requests), images);
  const filesOf = ({ folder, outputs }: (typeof both)["whole"]) =>
    outputs.map(({ files: [file = ""] }) => join(folder, file));
  return { whole: filesOf(both.whole), joined: filesOf(both.joined) };
}

async function encodeDrawn(name: string, request: OutputOptions): Promise<string> {
  const { files, failures } = await encodeClip(clip(name), [request], images, [], {
    prepare: await placerFor([request]),
    tweak: lossless,
  });
  if (failures[0]) throw new Error(failures[0].failure.message);
  return files.get(0)?.[0] ?? "";
}

const framesOf = ({ frames }: Shown) => frames.map(({ hash, seconds }) => [seconds.toFixed(4), hash]);

const FRAME = 320 * 180;

/** Times of the frames with bright pixels. */
async function brightTimes(file: string): Promise<number[]> {
  const { frames } = await look(file);
  const pixels = await decode(file, "null", "gray");
  const isBright = (at: number): boolean => pixels.subarray(at * FRAME, (at + 1) * FRAME).some((value) => value > 220);
  return frames.flatMap(({ seconds }, at) => (isBright(at) ? [seconds] : []));
}

const full = { url: url("white.png"), anchor: "center", width: 100, height: 100 };
const WORD = { text: "MMMMM", anchor: "center", size: 40 };

describe("times", () => {
  few(1).each(["ntsc.mkv", "25.mp4", "uneven.mkv"])(
    "of images and texts on %s are right to the frame",
    async (name) => {
      const windows = [
        { start: 1.2, end: -2 },
        { start: -3, end: 5 },
      ];
      const requests = windows.flatMap((window) =>
        [full, WORD].map((what) => overlaid([{ ...what, ...window }], "mkv::noaudio")),
      );
      const { whole, joined } = await encodeBoth(name, requests);
      const times = (await look(whole[0] ?? "")).frames.map(({ seconds }) => seconds);
      const length = Number((await probe(clip(name))).format.duration);
      for (const [at, { start, end = 1000 }] of windows.entries()) {
        const from = start < 0 ? length + start : start;
        const to = end < 0 ? length + end : end;
        const within = times.filter((time) => time >= from - 0.001 && time < to - 0.001);
        for (const file of whole.slice(2 * at, 2 * at + 2)) expect([at, await brightTimes(file)]).toEqual([at, within]);
      }
      for (const [at, file] of whole.entries()) {
        expect(framesOf(await look(joined[at] ?? ""))).toEqual(framesOf(await look(file)));
      }
    },
  );

  few(1).each(["ntsc.mkv", "uneven.mkv"])("of fades on %s are a function of the time", async (name) => {
    const [file = ""] = (await encodeBoth(name, [overlaid([{ ...full, start: 1, end: 3, fade: 0.4 }], "mkv::noaudio")]))
      .joined;
    const { frames } = await look(file);
    const pixels = await decode(file, "crop=2:2:160:90,extractplanes=y", "gray");
    for (const [at, { seconds }] of frames.entries()) {
      const share = Math.max(0, Math.min(1, (seconds - 1) / 0.4, (3 - seconds) / 0.4));
      const tolerance = name === "uneven.mkv" && share > 0 && share < 1 ? 7 : 2;
      expect([seconds, Math.abs((pixels[at * 4] ?? 0) - (126 + (235 - 126) * share)) <= tolerance]).toEqual([
        seconds,
        true,
      ]);
    }
  });

  const MIXED = [
    { url: url("half.png"), anchor: "topleft", width: 20, start: 0.5, end: 5, fade: 1.7 },
    {
      text: "Αβγ\nДва",
      anchor: "bottomleft",
      size: 9,
      background: "#20408080",
      start: 0.6,
      end: -0.5,
      fade: 0.9,
      opacity: 0.7,
    },
    { timecode: "01:00:00:00", anchor: "top", fade: 0.5, end: 5.5 },
    { url: url("red.png"), anchor: "right", width: 9, opacity: 0.3, start: 1.9 },
    { text: "مرحبا", anchor: "topright", size: 6 },
  ];

  few(1).each(["25.mp4", "ntsc.mkv"])(
    "of all kinds on %s are the same in chunks and streams, and in cropped frames",
    async (name) => {
      const blurred = overlaid(MIXED, "mp4:180x320:noaudio", { fit: "blur", watermark: { url: url("red.png") } });
      const requests = [
        overlaid(MIXED, "mp4::noaudio"),
        blurred,
        overlaid(MIXED, "mp4:15fps:noaudio", { crop: { width: "50%", height: "50%" } }),
      ];
      const { whole, joined } = await encodeBoth(name, requests);
      for (const [at, file] of whole.entries()) {
        expect([at, framesOf(await look(joined[at] ?? ""))]).toEqual([at, framesOf(await look(file))]);
      }
    },
  );

  it("count from the start of a trimmed output, however it is read", async () => {
    const hashes = await Promise.all(
      [0, 2.52, 40.2].map(async (offset) => {
        // Levels of fades may be rounded differently.
        const sharp = MIXED.map((overlay) => ({ ...overlay, fade: 0 }));
        const request = overlaid(sharp, "mkv::noaudio", { offset, duration: 6 });
        return (await look(await encodeDrawn("long.mp4", request))).frames.map(({ hash }) => hash);
      }),
    );
    expect(hashes[0]).toHaveLength(150);
    expect(hashes.slice(1)).toEqual([hashes[0], hashes[0]]);
  });

  it("choose the images that show an overlay, with and without a seek", async () => {
    const offsets = [0.9, 1, 1.9, 2, 50];
    const request = overlaid(
      [
        { ...full, start: 1, end: 2 },
        { ...WORD, start: -11 },
      ],
      "png",
      { offsets },
    );
    const { files } = await encodeClip(
      clip("long.mp4"),
      [request, overlaid([{ ...full, start: 49 }], "png", { offsets: [50] })],
      images,
      [],
      { prepare: await placerFor([request]) },
    );
    const white = await Promise.all(
      [...files.values()].flat().map(async (file) => (await decode(file, "null", "gray")).some((value) => value > 220)),
    );
    expect(white).toEqual([false, true, true, false, true, true]);
  });
});

describe("a timecode", () => {
  const hashesOf = async (name: string, timecode: string, more: object = {}): Promise<string[]> => {
    const file = await encodeDrawn(name, overlaid([{ timecode, anchor: "center", size: 20 }], "mkv::noaudio", more));
    return (await look(file)).frames.map(({ hash }) => hash);
  };

  it.each([
    ["25.mp4", "01:00:00:00", 85, "01:00:03:10"],
    ["25.mp4", "23:59:58:24", 27, "00:00:00:01"],
    ["ntsc.mkv", "00:59:59:00", 30, "01:00:00:00"],
    ["ntsc.mkv", "00:00:59;00", 30, "00:01:00;02"],
    ["ntsc.mkv", "00:09:59;28", 2, "00:10:00;00"],
  ])("on %s from %s has, %i frames later, %s", async (name, from, frames, later) => {
    const [first, second] = [await hashesOf(name, from, { duration: 4 }), await hashesOf(name, later, { duration: 1 })];
    expect(first[frames]).toBe(second[0]);
    expect(new Set(first).size).toBe(first.length);
  });

  it("is that of the source, also after a trim and in images", async () => {
    const sourced = await hashesOf("coded.mov", "source");
    expect(sourced).toEqual(await hashesOf("coded.mov", "09:59:58;10"));
    expect((await hashesOf("coded.mov", "source", { offset: 1.001 }))[0]).toBe(sourced[30]);
  });

  it.each([
    ["uneven.mkv", "01:00:00:00", /^Overlay 1 cannot be drawn: a timecode needs a constant frame rate/],
    ["25.mp4", "source", /the input states no timecode/],
    ["25.mp4", "01:00:00:25", /01:00:00:25 is no timecode at 25 frames per second/],
    ["25.mp4", "01:00:00;00", /drop-frame timecode is for 29.97/],
  ])("on %s fails the output of %s", async (name, timecode, message) => {
    const request = overlaid([{ timecode }], "mkv::noaudio");
    const { failures } = await encodeClip(clip(name), [request], images);
    expect(failures).toEqual([
      { output: 0, failure: { code: "overlay_failed", message: expect.stringMatching(message) } },
    ]);
  });
});

describe("an overlaid text", () => {
  it("has its box at its anchor", async () => {
    const requests = ANCHORS.map((anchor) =>
      overlaid([{ text: "AbcABC\n\nxyz", anchor, size: 8, x: 4, y: 5, background: "#ff0000", color: "#ff0000" }]),
    );
    const prepare = await placerFor(requests);
    const { files } = await encodeClip(clip("25.mp4"), requests, images, [], { prepare });
    for (const [at, anchor] of ANCHORS.entries()) {
      const box = await boxOf(files.get(at)?.[0] ?? "", isRed);
      const size = [box.right - box.left, box.bottom - box.top];
      const expected = expectedBox(anchor, [4, 5], size, [320, 180]);
      expect([anchor, box, near(box, expected, 2)]).toEqual([anchor, box, true]);
    }
  });

  it("needs a font with its letters", async () => {
    const outcome = async (overlay: object): Promise<string> => {
      const request = overlaid([{ url: url("red.png") }, { size: 20, ...overlay }]);
      const file = await encodeDrawn("25.mp4", request).catch((error: Error) => error.message);
      if (!file.startsWith("/")) return file;
      return (await decode(file, "crop=200:90:60:40", "gray")).some((value) => value > 220) ? "drawn" : "nothing";
    };
    expect(await outcome({ text: "مرحبا", anchor: "center", font: "Noto Sans Arabic" })).toBe("drawn");
    expect(await outcome({ text: "Áß Жук {\\pos(0,0)}", anchor: "center" })).toBe("drawn");
    expect(await outcome({ text: "สวัสดี" })).toMatch(
      /^Overlay 2 cannot be drawn: no font has ส \(U\+0E2A\).*name a font/,
    );
    expect(await outcome({ text: "a", font: "Unknown Sans" })).toBe("The encoder node has no font `Unknown Sans`.");
  });
});

describe("an overlay of a task", () => {
  it("is in all renditions of a stream, and fails alone", async () => {
    const { origin } = await serve((request, response) => {
      if (request.url === "/white.png") void readFile(clip("white.png")).then((bytes) => response.end(bytes));
      else response.writeHead(404).end();
    });
    const white = { url: `${origin}/white.png`, anchor: "left", width: 50, height: 100, x: 0 };
    const overlays = [
      white,
      { text: "Dark", color: "#000000", size: 40, anchor: "left" },
      { timecode: "source", anchor: "right" },
    ];
    const hls = { hls: { path: "h" }, variants: ["mp4:320x:x", "mp4:160x:x"] };
    const { outputs } = await processSource(clip("coded.mov"), [
      overlaid(overlays, "httpstream", hls),
      overlaid([{ ...white, url: `${origin}/missing.png` }], "png"),
      overlaid([white], "png", { watermark: { url: `${origin}/white.png` }, crop: { width: "50%", height: "50%" } }),
    ]);
    closeServers();
    const [stream, missing, image] = outputs;
    const [playlist = ""] = stream?.ok ? stream.files : [];
    for (const [at, width] of [320, 160].entries()) {
      const frame = await decodeStream(playlist, at, width);
      expect([at, frame.some((value) => value > 220), frame.some((value) => value < 40)]).toEqual([at, true, true]);
    }
    const message = expect.stringMatching(/^The image of an overlay from the host .* the host responded with HTTP 404/);
    expect(missing).toEqual({ ok: false, failure: { code: "overlay_failed", message } });
    expect(image?.ok).toBe(true);
  });
});

/** The left half of the first frame of a rendition. */
async function decodeStream(playlist: string, at: number, width: number): Promise<Buffer> {
  const input = ["-v", "error", "-allowed_extensions", "ALL", "-i", playlist, "-map", `0:v:${at}`, "-frames:v", "1"];
  const argv = [...input, "-vf", `crop=${width / 2}:ih:0:0`, "-f", "rawvideo", "-pix_fmt", "gray", "-"];
  return (await promisify(execFile)(REFERENCE_FFMPEG, argv, { encoding: "buffer" })).stdout;
}
