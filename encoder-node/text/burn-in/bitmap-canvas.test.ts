import { expect, it } from "vitest";
import type { MediaProbe } from "#shared/media/media-probe.ts";
import { canvasShape, canvasSize } from "./bitmap-canvas.ts";

const pgs = { codec_name: "hdmv_pgs_subtitle" };
const dvb = { codec_name: "dvb_subtitle" };
const dvd = { codec_name: "dvd_subtitle" };

const probeOf = (width: number, height: number, more: object = {}): MediaProbe => ({
  streams: [{ index: 0, codec_type: "video", codec_name: "h264", width, height, ...more }],
  format: {},
});
const HD = probeOf(1920, 1080);
const SD = probeOf(720, 576, { sample_aspect_ratio: "64:45" });

const DEFINITION = [0x0f, 0x14, 0, 1, 0, 5, 0, 0x07, 0x7f, 0x04, 0x37];
const REGION = [0x0f, 0x11, 0, 1, 0, 3, 0x0f, 0x14, 0];

it.each([
  ["PGS states it in a composition", pgs, [0x17, 0, 1, 9, 0x16, 0, 11, 0x0f, 0, 0x08, 0x70], 3840, 2160],
  ["PGS that is broken has the frame's", pgs, [0x16, 0, 11, 0x0f], 1920, 1080],
  ["DVB states it in a definition", dvb, [0x20, 0, ...REGION, ...DEFINITION, 0xff], 1920, 1080],
  ["DVB without a definition has 720x576", dvb, [0x20, 0, ...REGION, 0xff], 720, 576],
  ["DVB of lengths beyond the data has 720x576", dvb, [0x0f, 0x10, 0, 1, 0xff, 0xff, 1, 2, 3, 4, 5, 6], 720, 576],
  ["DVD has the size of the probe", { ...dvd, width: 720, height: 480 }, [1], 720, 480],
  ["DVD without a size has the frame's", dvd, [1], 1920, 1080],
])("finds the size of the canvas: %s", (_, stream, data, width, height) => {
  expect(canvasSize(stream, Buffer.from(data), HD)).toEqual({ width, height });
});

it.each([
  ["is its own for PGS", pgs, [1920, 1080], probeOf(1920, 800), [1920, 1080]],
  [
    "is the frame's for PGS of the same size",
    pgs,
    [1440, 1080],
    probeOf(1440, 1080, { sample_aspect_ratio: "4:3" }),
    [1920, 1080],
  ],
  ["is the frame's for PGS of SD", pgs, [720, 480], probeOf(854, 480), [854, 480]],
  ["is the frame's for DVB", dvb, [720, 576], HD, [1920, 1080]],
  ["is the frame's for DVD", dvd, [720, 576], SD, [1024, 576]],
  [
    "is the frame's before its rotation",
    dvd,
    [720, 576],
    { ...SD, streams: SD.streams.map((stream) => ({ ...stream, tags: { rotate: "90" } })) },
    [1024, 576],
  ],
] as const)("the shape of the canvas %s", (_, stream, [width, height], probe, shape) => {
  expect(Object.values(canvasShape(stream, { width, height }, probe))).toEqual(shape);
});
