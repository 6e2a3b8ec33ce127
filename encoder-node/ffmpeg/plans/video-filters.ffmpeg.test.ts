// Video filters in real runs, measured on the output's pixels.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few } from "../../testing/few.ts";
import { decode, decodeAudio, encodeClip, encodeOne, firstFrame, makeClip, probe } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";

const X264 = "-c:v libx264 -preset ultrafast -qp 0";
const TAGS = "-colorspace bt709 -color_primaries bt709 -color_trc bt709 -color_range tv";
const plane = (color: string, size: string): string => `-f lavfi -i color=${color}:s=${size}:r=10:d=0.5`;
const TO_709 = "scale=out_color_matrix=bt709:out_range=tv,format=yuv444p";
/** Four quarters: red and green above blue and white. */
const QUARTERS =
  `${plane("0xff0000", "160x90")} ${plane("0x00ff00", "160x90")} ${plane("0x0000ff", "160x90")} ${plane("white", "160x90")} ` +
  `-filter_complex [0][1]hstack[a];[2][3]hstack[b];[a][b]vstack,${TO_709} ${TAGS} ${X264}`;
/** Luma of frame n is 16 + n modulo 200. The audio is silent up to frame 60 or 1530. */
const ramp = (seconds: number, silence: number): string =>
  `-f lavfi -i nullsrc=s=64x36:r=30000/1001:d=${seconds},format=yuv420p,geq=lum=16+mod(N\\,200):cb=128:cr=128 ` +
  `-f lavfi -i aevalsrc=if(gte(t\\,${silence})\\,sin(3000*t)\\,0):d=${seconds}:s=48000 ` +
  "-c:v libx264 -preset veryfast -qp 0 -bf 2 -g 100 -c:a aac";

const CLIPS: Readonly<Record<string, string>> = {
  "quarters.mp4": QUARTERS,
  "rotated.mp4": "-display_rotation -90 -i quarters.mp4 -c copy",
  "mirrored.mp4": "-display_hflip -i quarters.mp4 -c copy",
  "quarters.jpg":
    "-i quarters.mp4 -frames:v 1 -vf format=gbrp,scale=out_color_matrix=bt601:out_range=pc,format=yuvj444p -q:v 2",
  "tall-pixels.mp4": `-i quarters.mp4 -vf scale=160:180,setsar=2/1 ${TAGS} ${X264}`,
  "ramp.mp4": ramp(4.004, 2.002),
  "ramp.mkv": "-i ramp.mp4 -c copy",
  "ramp.ts": "-i ramp.mp4 -c copy",
  "late.ts": "-itsoffset 0.5005 -i ramp.mp4 -i ramp.mp4 -map 0:v -map 1:a -c copy",
  "long.mp4": ramp(56.056, 51.051),
  "long.mkv": "-i long.mp4 -c copy",
  "long.ts": "-i long.mp4 -c copy",
  "combed.mp4":
    "-f lavfi -i testsrc2=s=320x180:r=50:d=1 -vf interlace=lowpass=0,setparams=field_mode=tff -flags +ilme+ildct " +
    `-x264-params tff=1 -c:v libx264 -preset ultrafast -qp 0`,
};

/** Generous, because other tests may keep the machine busy. */
const CLIPS_TIMEOUT_MS = 60_000;

const folder = fileFolder();
const clip = (name: string): string => path.join(folder, name);
beforeAll(async () => {
  for (const [name, argv] of Object.entries(CLIPS)) await makeClip(folder, name, argv);
  await writeFile(clip("sideways.bin"), withOrientation(await readFile(clip("quarters.jpg")), 6));
}, CLIPS_TIMEOUT_MS);

/** A JPEG as phones write it, with the turn in EXIF (6: rotate 90° clockwise). */
function withOrientation(jpeg: Buffer, turn: number): Buffer {
  const exif = `457869660000 49492a0008000000 0100 12010300 01000000 0${turn}000000 00000000`.replaceAll(" ", "");
  const body = Buffer.from(exif, "hex");
  const head = Buffer.from([0xff, 0xe1, 0, body.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
}

const NAMES = { R: [255, 0, 0], G: [0, 255, 0], B: [0, 0, 255], W: [255, 255, 255], "-": [0, 0, 0] } as const;

/** The name of the color nearest to the pixel; `?` if no color is near. */
function nameOf(pixel: readonly number[]): string {
  const far = (rgb: readonly number[]): number =>
    Math.max(...rgb.map((value, at) => Math.abs(value - (pixel[at] ?? 0))));
  return Object.entries(NAMES).find(([, rgb]) => far(rgb) <= 12)?.[0] ?? "?";
}

/** `320x180 RGBW`: the size and the colors of points by rows. Columns and rows are fractions of width and height. */
async function pixelsAt(file: string, columns = [0.2, 0.8], rows = [0.2, 0.8]): Promise<string> {
  const stream = (await probe(file)).streams.find(({ codec_type }) => codec_type === "video");
  const { width = 0, height = 0 } = stream ?? {};
  const frame = await firstFrame(file);
  const colors = rows.map((y) => columns.map((x) => nameOf(frame.at(Math.floor(x * width), Math.floor(y * height)))));
  return `${width}x${height} ${colors.map((row) => row.join("")).join(" ")}`;
}

describe("shape", () => {
  few(2).each<[string, Record<string, unknown>, string]>([
    ["quarters.mp4", {}, "320x180 RG BW"],
    ["quarters.mp4", { transpose: 0 }, "180x320 RB GW"],
    ["quarters.mp4", { transpose: 1 }, "180x320 BR WG"],
    ["quarters.mp4", { transpose: 2 }, "180x320 GW RB"],
    ["quarters.mp4", { transpose: 3 }, "180x320 WG BR"],
    ["quarters.mp4", { hflip: true }, "320x180 GR WB"],
    ["quarters.mp4", { vflip: true }, "320x180 BW RG"],
    ["quarters.mp4", { transpose: 1, hflip: true, vflip: true }, "180x320 GW RB"],
    ["rotated.mp4", {}, "180x320 BR WG"],
    ["rotated.mp4", { transpose: 2 }, "320x180 RG BW"],
    ["mirrored.mp4", {}, "320x180 GR WB"],
    ["sideways.bin", {}, "180x320 BR WG"],
    ["tall-pixels.mp4", {}, "320x180 RG BW"],
  ])("%s with %j has the right turn, square pixels and %s, as video and as image", async (name, params, seen) => {
    const { files } = await encodeClip(clip(name), [
      { format: "mp4:::quality=5", params },
      { format: "jpg", params },
    ]);
    for (const file of [...files.values()].flat()) expect(await pixelsAt(file)).toBe(seen);
  });

  few(2).each<[string, OutputOptions, number[], number[], string]>([
    // Bars above and below, then at the sides.
    ["quarters.mp4", { format: "mp4:180x180" }, [0.2, 0.8], [0.1, 0.3, 0.7, 0.9], "180x180 -- RG BW --"],
    ["quarters.mp4", { format: "mp4:320x90" }, [0.1, 0.4, 0.6, 0.9], [0.2, 0.8], "320x90 -RG- -BW-"],
    // Cropped to the center: the quarters still meet in the middle, and there are no bars.
    [
      "quarters.mp4",
      { format: "mp4:180x180", params: { fit: "crop" } },
      [0.02, 0.45, 0.55, 0.98],
      [0.02, 0.98],
      "180x180 RRGG BBWW",
    ],
    [
      "quarters.mp4",
      { format: "mp4:320x90", params: { fit: "crop" } },
      [0.02, 0.98],
      [0.02, 0.45, 0.55, 0.98],
      "320x90 RG RG BW BW",
    ],
    ["rotated.mp4", { format: "jpg:100x100", params: { fit: "crop" } }, [0.02, 0.98], [0.02, 0.98], "100x100 BR WG"],
    [
      "tall-pixels.mp4",
      { format: "jpg:90x90", params: { fit: "crop", transpose: 1 } },
      [0.02, 0.98],
      [0.02, 0.98],
      "90x90 BR WG",
    ],
    ["quarters.mp4", { format: "jpg:99x", square: true }, [0.02, 0.98], [0.02, 0.98], "99x99 RG BW"],
  ])("%s as %j is positioned correctly", async (name, request, columns, rows, seen) => {
    expect(await pixelsAt(await encodeOne(clip(name), request), columns, rows)).toBe(seen);
  });
});

/** Gray, primaries and complements at 75 %, and near black: a wrong matrix or range shifts them. */
const BARS = ["bfbfbf", "bfbf00", "00bfbf", "00bf00", "bf00bf", "bf0000", "0000bf", "1e1e1e"];

describe("color", () => {
  const SD = "smpte170m smpte170m smpte170m tv";
  const HD = "bt709 bt709 bt709 tv";
  const encoded = (matrix: string, range: string, format: string): string =>
    `scale=out_color_matrix=${matrix}:out_range=${range},format=${format}`;
  const untagged = "setparams=colorspace=unknown:range=unknown";
  const wide = "-colorspace bt2020nc -color_primaries bt2020 -color_trc bt2020-10";

  /** The source's size, its conversion from RGB, the output's format and expected tags. BT.2020 stays BT.2020. */
  few(2).each<[string, string, string, string, string]>([
    ["HD with tags", "1280x720", `${encoded("bt709", "tv", "yuv420p")} ${TAGS} ${X264}`, "mp4:240p", HD],
    ["HD without", "1280x720", `${encoded("bt709", "tv", "yuv420p")},${untagged} ${X264}`, "mp4:240p", HD],
    ["SD without", "320x240", `${encoded("bt601", "tv", "yuv420p")},${untagged} ${X264}`, "mp4:720p", SD],
    [
      "PAL without",
      "720x576",
      `${encoded("bt601", "tv", "yuv420p")},${untagged} ${X264}`,
      "mp4",
      "bt470bg smpte170m bt470bg tv",
    ],
    [
      "full range",
      "1280x720",
      `${encoded("bt709", "pc", "yuv420p")} ${TAGS.replace("range tv", "range pc")} ${X264}`,
      "mp4:240p",
      HD,
    ],
    ["RGB in HD", "1280x720", "format=rgb24 -c:v png", "mp4", HD],
    ["RGB in SD", "320x240", "format=rgb24 -c:v png", "mp4", HD],
    [
      "SD as DNxHD",
      "640x360",
      `${encoded("bt601", "tv", "yuv420p")},${untagged} ${X264}`,
      "mov:dnxhd",
      "bt709 smpte170m smpte170m tv",
    ],
    ["10 bits of 4:2:2", "640x360", `${encoded("bt709", "tv", "yuv422p10le")} ${TAGS} -c:v prores_ks`, "mp4", HD],
    [
      "10 bits kept",
      "640x360",
      `${encoded("bt2020", "tv", "yuv420p10le")} ${wide} ${X264}`,
      "mp4:hevc::pix_fmt=yuv420p10le",
      "bt2020nc bt2020-10 bt2020 tv",
    ],
  ])("%s keeps its colors in videos and images", async (name, size, command, format, tags) => {
    const source = `bars ${name}.mkv`.replaceAll(/[ :]/g, "-");
    const bars = BARS.map((rgb) => `-f lavfi -i color=0x${rgb}:s=40x180:r=10:d=0.3,format=gbrp`).join(" ");
    const [filters = "", ...options] = command.split(" ");
    await makeClip(
      folder,
      source,
      `${bars} -filter_complex hstack=8,scale=${size.replace("x", ":")}:flags=neighbor,${filters} ${options.join(" ")}`,
    );
    const { files, failures } = await encodeClip(clip(source), [{ format }, { format: "jpg" }]);
    expect(failures).toEqual([]);
    const [video = "", image = ""] = [...files.values()].flat();
    const [stream] = (await probe(video)).streams;
    expect([stream?.color_space, stream?.color_transfer, stream?.color_primaries, stream?.color_range].join(" ")).toBe(
      tags,
    );
    for (const file of tags.startsWith("bt2020") ? [video] : [video, image]) {
      const frame = await firstFrame(file);
      const height = (await probe(file)).streams[0]?.height ?? 0;
      const seen = BARS.map((_, at) => frame.at(Math.floor(((at + 0.5) / 8) * frame.width), height >> 1));
      const meant = BARS.map((rgb) => [...Buffer.from(rgb, "hex")]);
      expect(farthest(seen, meant)).toBeLessThanOrEqual(6);
    }
  });

  const farthest = (seen: readonly (readonly number[])[], meant: readonly (readonly number[])[]): number =>
    Math.max(
      ...seen.flatMap((pixel, at) => pixel.map((value, channel) => Math.abs(value - (meant[at]?.[channel] ?? 999)))),
    );
});

describe("high dynamic range", () => {
  /** Luminance of grays in cd/m²: black, mid-gray and white of ITU-R BT.2408, and highlights. */
  const NITS = [0, 26, 203, 400, 1000];
  /** SMPTE ST 2084. */
  const pq = (nits: number): number => {
    const y = (nits / 10_000) ** (2610 / 16_384);
    return ((3424 / 4096 + (2413 / 128) * y) / (1 + (2392 / 128) * y)) ** (2523 / 32);
  };
  /** ITU-R BT.2100, for a screen of 1000 cd/m². */
  const hlg = (nits: number): number => {
    const scene = (nits / 1000) ** (1 / 1.2);
    return scene <= 1 / 12 ? Math.sqrt(3 * scene) : 0.17883277 * Math.log(12 * scene - 0.28466892) + 0.55991073;
  };

  few(2).each([
    ["smpte2084", pq],
    ["arib-std-b67", hlg],
  ])("%s becomes BT.709 for 8 bits, and stays unchanged for 10", async (transfer, curve) => {
    const name = `${transfer}.mkv`;
    const luma = NITS.map((nits, at) => `between(X\\,${at * 64}\\,${at * 64 + 63})*${64 + 876 * curve(nits)}`).join(
      "+",
    );
    const source = `-f lavfi -i nullsrc=s=320x180:r=10:d=0.3,format=yuv420p10le,geq=lum=${luma}:cb=512:cr=512`;
    await makeClip(
      folder,
      name,
      `${source} ${X264} -colorspace bt2020nc -color_primaries bt2020 -color_trc ${transfer} -color_range tv`,
    );
    const { files } = await encodeClip(clip(name), [
      { format: "mp4" },
      { format: "jpg:301x169" },
      { format: "mp4:hevc::pix_fmt=yuv420p10le" },
    ]);
    const [video = "", image = "", alphaVideo = ""] = [...files.values()].flat();
    for (const file of [video, image]) {
      const frame = await firstFrame(file);
      const grays = NITS.map((_, at) => frame.at(Math.floor((at + 0.5) * (frame.width / 5)), 80));
      // Mid-gray of BT.709 is 104; white leaves room for highlights.
      for (const [at, gray] of [0, 108, 216, 238, 255].entries()) {
        for (const value of grays[at] ?? []) expect(Math.abs(value - gray)).toBeLessThanOrEqual(4);
      }
    }
    const tagsOf = async (file: string): Promise<string> => {
      const [stream] = (await probe(file)).streams;
      return `${stream?.pix_fmt} ${stream?.color_space} ${stream?.color_transfer} ${stream?.color_primaries}`;
    };
    expect(await tagsOf(video)).toBe("yuv420p bt709 bt709 bt709");
    expect(await tagsOf(alphaVideo)).toBe(`yuv420p10le bt2020nc ${transfer} bt2020`);
  });
});

describe("watermark", () => {
  const GRAY = [128, 128, 128];
  const SOURCES: Readonly<Record<string, string>> = {
    "gray.mp4": `${plane("0x808080", "1280x720")} -vf ${TO_709} ${TAGS} ${X264}`,
    "tall.mp4": `${plane("0x808080", "360x640")} -vf ${TO_709} ${TAGS} ${X264}`,
    "pal.mp4": `${plane("0x808080", "720x576")} -vf scale=out_color_matrix=bt470:out_range=tv,format=yuv420p -colorspace bt470bg ${X264}`,
    "hdr.mp4": `${plane("0x808080", "642x354")} -vf format=yuv420p10le -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc ${X264} -pix_fmt yuv420p10le`,
    /** Magenta with a half-transparent middle third. The transparent margin is green, which must not show. */
    "overlay.png":
      "-f lavfi -i color=0xff00ff:s=540x270,format=rgba,geq=r=255*between(X\\,60\\,479):g=255*not(between(X\\,60\\,479)):b=255*between(X\\,60\\,479):" +
      "a=if(between(X\\,60\\,479)\\,if(between(X\\,180\\,359)\\,128\\,255)\\,0) -frames:v 1",
    "overlay.jpg":
      "-f lavfi -i color=0xff00ff:s=540x270,format=gbrp,scale=out_color_matrix=bt601:out_range=pc,format=yuvj444p -frames:v 1 -q:v 2",
    "overlay.webp": "-i overlay.png -lossless 1",
    "huge.png": "-f lavfi -i color=0xff00ff:s=3000x300 -frames:v 1",
  };
  clipsOfFile(folder, SOURCES);

  const params = (position: string) => ({ watermark: { url: "https://a.example/m", position } });
  const overlayOf = (name: string): ReadonlyMap<string, string> => new Map([["https://a.example/m", clip(name)]]);

  few(2).each<[string, OutputOptions, number, number]>([
    // 540×270 pixels for 1080 lines are 360×180 for 720, at 14 pixels from the edges.
    ["gray.mp4", { format: "mp4", params: params("topleft") }, 14, 14],
    ["gray.mp4", { format: "mp4", params: params("bottomright") }, 1280 - 14 - 360, 720 - 14 - 180],
    ["gray.mp4", { format: "jpg", params: params("topright") }, 1280 - 14 - 360, 14],
    ["gray.mp4", { format: "mp4:hevc::pix_fmt=yuv420p10le", params: params("bottomleft") }, 14, 720 - 14 - 180],
    ["gray.mp4", { format: "mov:prores-ks::", params: params("bottomleft") }, 14, 720 - 14 - 180],
    // On the active area, not on the padding.
    ["gray.mp4", { format: "mp4:1280x1000", params: params("topleft") }, 14, 140 + 14],
  ])("on %s as %j is in its corner, with its colors and alpha", async (name, request, left, top) => {
    const frame = await firstFrame(await encodeOne(clip(name), request, overlayOf("overlay.png")));
    const at = (x: number): readonly number[] => frame.at(left + x, top + 90);
    const near = (x: number, rgb: readonly number[]): void => {
      for (const [channel, value] of at(x).entries())
        expect(Math.abs(value - (rgb[channel] ?? 999))).toBeLessThanOrEqual(9);
    };
    near(20, GRAY);
    near(60, [255, 0, 255]);
    near(180, [192, 64, 192]);
    near(300, [255, 0, 255]);
    near(340, GRAY);
    for (const y of [-4, 184]) expect(frame.at(left + 60, top + y)[1]).toBeGreaterThan(110);
    for (const y of [4, 176]) expect(frame.at(left + 60, top + y)[1]).toBeLessThan(20);
    // No green along the edge, beyond the effect of halved color planes.
    for (let x = 30; x < 50; x++) expect((at(x)[1] ?? 0) - (at(x)[0] ?? 0)).toBeLessThanOrEqual(25);
  });

  few(2).each([
    ["pal.mp4", "mp4:0x240"],
    ["hdr.mp4", "mp4:hevc_0x270::pix_fmt=yuv420p10le"],
    ["hdr.mp4", "mp4:hevc_640x354::pix_fmt=yuv420p10le"],
  ])("is visible on %s as %s, whatever the color matrix and the overlay's size", async (name, format) => {
    const request = { format, params: params("topleft") };
    const frame = await firstFrame(await encodeOne(clip(name), request, overlayOf("overlay.jpg")));
    const [red = 0, green = 255, blue = 0] = frame.at(20, 20);
    // It looks paler in PQ and the wide gamut of BT.2020.
    expect([red > green + 25, blue > green + 25]).toEqual([true, true]);
  });

  few(2).each([
    ["overlay.webp", "tall.mp4", 180, 90],
    ["overlay.jpg", "tall.mp4", 180, 90],
    ["huge.png", "gray.mp4", 640, 64],
  ])("%s on %s is %i×%i pixels", async (overlay, name, width, height) => {
    const frame = await firstFrame(
      await encodeOne(clip(name), { format: "mp4", params: params("topleft") }, overlayOf(overlay)),
    );
    const margin = name === "tall.mp4" ? 8 : 14;
    const isOverlay = (x: number, y: number): boolean => (frame.at(x, y)[1] ?? 255) < 100;
    const [middle, inside] = [margin + (height >> 1), margin + Math.round(width * 0.2)];
    const across = Array.from({ length: frame.width }, (_, x) => x).filter((x) => isOverlay(x, middle));
    const down = Array.from({ length: height + 40 }, (_, y) => y).filter((y) => isOverlay(inside, y));
    expect(
      Math.abs((across.at(-1) ?? 0) - (margin + width * (overlay === "overlay.webp" ? 8 / 9 : 1))),
    ).toBeLessThanOrEqual(2);
    expect([Math.abs(down.length - height) <= 2, Math.abs((down[0] ?? 0) - margin) <= 1]).toEqual([true, true]);
  });
});

describe("trim", () => {
  /** The numbers of the frames of a ramp, modulo 200. */
  const frames = async (file: string): Promise<number[]> => {
    const luma = await decode(file, "scale=1:1", "gray");
    return [...luma].map((value) => Math.round(value * (219 / 255)));
  };
  /** The position at which the audio sets in, in frames. */
  const onset = async (file: string): Promise<number> => {
    const samples = await decodeAudio(file);
    const first = samples.findIndex((sample) => Math.abs(sample) > 3000);
    return (first / 48_000) * (30_000 / 1001);
  };
  const count = (from: number, length: number): number[] => Array.from({ length }, (_, at) => (from + at) % 200);

  few(2).each<[string, number, number, number]>([
    ["ramp.mp4", 1.001, 30, 60],
    ["ramp.mkv", 1.001, 30, 60],
    ["ramp.ts", 1.001, 30, 60],
    // Between two frames: the output starts with the later frame.
    ["ramp.mp4", 1.02, 31, 60],
    // The time of frame 46, rounded to 0.1 ms.
    ["ramp.mkv", 1.5348, 46, 60],
    ["late.ts", 1.001, 15, 60],
    // Far enough for seeking.
    ["long.mp4", 50.05, 1500, 1530],
    ["long.mkv", 50.05, 1500, 1530],
    ["long.ts", 50.05, 1500, 1530],
    ["long.mp4", 50.06, 1501, 1530],
  ])("%s from %d s on begins and ends at the exact frame, with audio in sync", async (name, offset, first, loud) => {
    const { files, commands } = await encodeClip(clip(name), [
      { format: "mp4:::quality=5", params: { offset, duration: 1.5015 } },
      { format: "mp4:15fps::quality=5", params: { offset, duration: 1.001 } },
    ]);
    expect(commands[0]?.runs[0]?.argv.includes("-ss")).toBe(true);
    const [whole = "", halved = ""] = [...files.values()].flat();
    expect(await frames(whole)).toEqual(count(first, 45));
    expect(await frames(halved)).toHaveLength(15);
    const late = name === "late.ts" ? 15 : 0;
    expect(Math.abs((await onset(whole)) - (loud - first - late))).toBeLessThan(1);
    const { streams } = await probe(whole);
    for (const { start_time } of streams) expect(Math.abs(Number(start_time))).toBeLessThan(0.01);
  });

  test("a trimmed output with another frame rate has the same frames as the whole output", async () => {
    const { files } = await encodeClip(clip("long.mp4"), [
      { format: "mp4:24fps::quality=5" },
      { format: "mp4:24fps::quality=5", params: { offset: 50.5 } },
    ]);
    const [whole = "", part = ""] = [...files.values()].flat();
    expect(await frames(part)).toEqual((await frames(whole)).slice(50.5 * 24));
  });

  test("an offset beyond the end fails with a message", async () => {
    const { failures } = await encodeClip(clip("ramp.mp4"), [{ format: "mp4", params: { offset: 5 } }]);
    expect(failures[0]?.failure).toEqual({
      code: "offset_beyond_end",
      message: "The output's `offset` is beyond the end of the input.",
    });
  });
});

describe("deinterlace", () => {
  test("deinterlaces frames at the same rate, and leaves progressive frames unchanged", async () => {
    const deinterlace = { deinterlace: true };
    const { files } = await encodeClip(clip("combed.mp4"), [
      { format: "mp4:::quality=5" },
      { format: "mp4:::quality=5", params: deinterlace },
    ]);
    const [combed = "", whole = ""] = [...files.values()].flat();
    /** Sum of the differences between adjacent lines, in a frame with motion. */
    const combs = async (file: string): Promise<number> => {
      const luma = await decode(file, "trim=start_frame=10:end_frame=11", "gray");
      const rows = Array.from({ length: 179 }, (_, y) => y).map((y) =>
        luma
          .subarray(y * 320, y * 320 + 320)
          .reduce((sum, value, x) => sum + Math.abs(value - (luma[(y + 1) * 320 + x] ?? value)), 0),
      );
      return rows.reduce((sum, row) => sum + row, 0);
    };
    expect((await combs(whole)) / (await combs(combed))).toBeLessThan(0.8);
    const rates = await Promise.all(
      [combed, whole].map(async (file) => (await probe(file)).streams[0]?.nb_read_packets),
    );
    expect(rates).toEqual(["25", "25"]);
    const plain = await encodeClip(clip("quarters.mp4"), [{ format: "mp4" }, { format: "mp4", params: deinterlace }]);
    const [before = "", after = ""] = [...plain.files.values()].flat();
    expect((await decode(after, "null", "gray")).equals(await decode(before, "null", "gray"))).toBe(true);
  });
});

describe("alpha", () => {
  test("makes transparent areas black in videos without alpha, and keeps them in videos with alpha", async () => {
    await makeClip(folder, "glass.png", "-f lavfi -i color=0xff0000@0.5:s=64x64,format=rgba -frames:v 1");
    const { files } = await encodeClip(clip("glass.png"), [
      { format: "mp4" },
      { format: "jpg" },
      { format: "mov:prores-ks::pix_fmt=yuva444p10le" },
    ]);
    const [video = "", image = "", alphaVideo = ""] = [...files.values()].flat();
    for (const file of [video, image]) {
      const [red = 0, green = 0] = (await firstFrame(file)).at(32, 32);
      expect([Math.abs(red - 128) <= 4, green <= 4]).toEqual([true, true]);
    }
    const [, , , alpha = 0] = await decode(alphaVideo, "format=rgba", "rgba");
    expect(Math.abs(alpha - 128)).toBeLessThanOrEqual(2);
  });
});
