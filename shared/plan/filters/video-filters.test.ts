import { expect, test } from "vitest";
import { withoutFitting } from "../../testing/plan-text.ts";
import { BT709, PQ, videoStream } from "../../testing/probes.ts";
import { branchGraph, type Filter } from "../command/filter-graph.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { chooseTracks, type VideoTrack } from "../source/source-tracks.ts";
import type { TargetFormat } from "./color-conversion.ts";
import { filterFailure, filterNeeds } from "./filter-needs.ts";
import { fixedSizeFilters } from "./frame-geometry.ts";
import { planVideoFilters, type VideoFilterOptions } from "./video-filters.ts";

const HD = videoStream(1920, 1080, "25/1", { pix_fmt: "yuv420p", ...BT709 });
const UNTAGGED = { color_space: "unknown", color_primaries: undefined, color_transfer: "unknown" };
const HDR = { pix_fmt: "yuv420p10le", ...PQ };
const PAL_COLORS = { color_space: "bt470bg", color_primaries: "bt470bg", color_transfer: "smpte170m" };
const PAL = { width: 720, height: 576 };
const SIDEWAYS = { side_data_list: [{ rotation: -90 }] };
const GRADED = { side_data_list: [{ max_luminance: "40000000/10000" }, { max_content: 600 }] };

const VIDEO: TargetFormat = { pixelFormat: "yuv420p", step: 2 };
const TEN_BITS: TargetFormat = { pixelFormat: "yuv420p10le", step: 2 };
const IMAGE: TargetFormat = { pixelFormat: "gbrp", step: 1 };
const SIZE = { width: null, height: 240 };
const PLAIN: VideoFilterOptions = { size: SIZE, fit: "pad", vflip: false, hflip: false, watermark: null };
const watermark = { url: "https://a.example/logo.png", position: "bottomright" } as const;
const box = (width: number, height: number) => ({ size: { width, height } });

type Options = { source?: object; spec?: Partial<VideoFilterOptions>; target?: TargetFormat; filters?: string[] };
function graph({ source = {}, spec = {}, target = VIDEO, filters = ALL_SOFTWARE.filters }: Options) {
  const probe = { streams: [{ ...HD, ...source, index: 0 }], format: {} };
  const { video } = chooseTracks(probe);
  if (!video) throw new Error("The source has no video");
  const planned = planVideoFilters({ ...PLAIN, ...spec }, video, target);
  if (!planned.ok) return planned.error;
  const lacking = filterFailure(filterNeeds(planned.value.filters), { ...ALL_SOFTWARE, filters });
  if (lacking) return lacking;
  const branch = { label: "v", filters: planned.value.filters };
  return withoutFitting(branchGraph("[0:0]", branch, new Map([[watermark.url, 1]])));
}

const WATERMARK =
  "trim=end_frame=1,settb=1,format=gbrap,premultiply=inplace=1," +
  "scale=w='max(1,round(iw*min(240/1080,min(213/iw,120/ih))))':h='max(1,round(ih*min(240/1080,min(213/iw,120/ih))))':flags=bicubic," +
  "unpremultiply=inplace=1";
const OVERLAY =
  `[1:v:0]${WATERMARK},scale=out_color_matrix=bt709:out_range=tv,format=yuva420p[voverlay];` +
  "[vbase][voverlay]overlay=x=W-w-4:y=H-h-4:format=yuv420";
const toneMap = (peak: number, end: string): string =>
  `zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=mobius:desat=0:peak=${peak},zscale=t=bt709:${end}`;

type Case = [options: Options, graph: string];

const filtersOf = (spec: VideoFilterOptions, video: VideoTrack): readonly Filter[] => {
  const planned = planVideoFilters(spec, video, VIDEO);
  return planned.ok ? planned.value.filters : [];
};

test("scales frames of changing shape to fit, in the size of all other frames", () => {
  const probe = { streams: [{ ...HD, sample_aspect_ratio: "4:3", width: 720, height: 540, index: 0 }], format: {} };
  const { video } = chooseTracks(probe);
  if (!video) throw new Error("The source has no video");
  const [scale, pad] = filtersOf(PLAIN, video);
  expect(scale).toBe(
    "scale=w='if(between(dar,1.76,1.795556),426,clip(2*round(240*dar/2),2,426))':" +
      "h='if(between(dar,1.76,1.795556),240,clip(2*round(426/dar/2),2,240))':eval=frame:flags=bicubic",
  );
  expect(pad).toBe("pad=426:240:-1:-1:eval=frame");
  const [fixed, fixedPad] = filtersOf({ ...PLAIN, hflip: true }, video);
  expect(fixed).toBe(
    "scale=w='if(between(dar,1.76,1.795556),720,clip(1*round(540*(dar/1.333333)/1),1,720))':" +
      "h='if(between(dar,1.76,1.795556),540,clip(1*round(720/(dar/1.333333)/1),1,540))':eval=frame",
  );
  expect(fixedPad).toBe("pad=720:540:-1:-1:eval=frame");
});

const CASES: Record<string, Case> = {
  "scaled only": [{}, "scale=426:240:flags=bicubic,format=yuv420p,setsar=1"],
  "an image": [{ target: IMAGE }, "scale=427:240:flags=bicubic,format=gbrp,setsar=1"],
  padded: [{ spec: box(320, 240) }, "scale=320:180:flags=bicubic,format=yuv420p,pad=320:240:0:30,setsar=1"],
  cropped: [
    { spec: { ...box(320, 240), fit: "crop" } },
    "scale=1920:1080,crop=iw*3/4:ih,scale=320:240:flags=bicubic,format=yuv420p,setsar=1",
  ],
  "cropped to a rectangle before the rotation, and to a focus": [
    {
      source: { ...PAL, sample_aspect_ratio: "64:45" },
      spec: {
        ...box(99, 90),
        fit: "crop",
        crop: { x: 102, y: "25%", width: "50%", height: 144 },
        crop_focus: { x: 0.5, y: 0 },
        transpose: 1,
      },
      target: IMAGE,
    },
    "scale=720:576,crop=360:144:72:144,transpose=1,crop=iw:ih*45/176:(iw-ow)*0.5:(ih-oh)*0,scale=99:90:flags=bicubic," +
      "format=gbrp,setsar=1",
  ],
  stretched: [{ spec: { ...box(320, 240), fit: "stretch" } }, "scale=320:240:flags=bicubic,format=yuv420p,setsar=1"],
  "with bars of a color": [
    { spec: { ...box(320, 240), pad_color: "#ff4080" } },
    "scale=320:180:flags=bicubic,format=yuv420p,split[vcopy][vfront];" +
      "[vcopy]pad=320:240:0:30,lutyuv=y=110:u=137:v=209[vback];[vback][vfront]overlay=0:30:format=yuv420,setsar=1",
  ],
  "an image with bars of a color": [
    { spec: { ...box(320, 240), pad_color: "#ff4080" }, target: IMAGE },
    "scale=320:180:flags=bicubic,format=gbrp,pad=320:240:0:30:color=0xff4080,setsar=1",
  ],
  "on a blurred backdrop, with a watermark on the active area, for hardware": [
    { spec: { ...box(426, 800), fit: "blur", watermark }, target: { pixelFormat: "nv12", step: 2 } },
    "scale=426:240:flags=bicubic,format=yuv420p,split[vcopy][vfront];[vcopy]scale=178:100:flags=bicubic," +
      "crop=54:100,gblur=sigma=1.2,scale=426:800:flags=bicubic[vback];[vfront]null[v2base];" +
      `${OVERLAY.replaceAll("voverlay", "v2overlay").replace("vbase", "v2base")}[vdrawn];` +
      "[vback][vdrawn]overlay=0:280:format=yuv420,setsar=1,format=nv12",
  ],
  "square, from pixels that are not square": [
    {
      source: { ...PAL, sample_aspect_ratio: "64:45" },
      spec: { size: { width: 99, height: null }, square: true },
      target: IMAGE,
    },
    "scale=720:576,crop=iw*9/16:ih,scale=99:99:flags=bicubic,format=gbrp,setsar=1",
  ],
  "rotated by the file, rotated as requested, flipped": [
    { source: SIDEWAYS, spec: { transpose: 1, vflip: true, hflip: true } },
    "scale=1080:1920,transpose=1,vflip,hflip,scale=426:240:flags=bicubic,format=yuv420p,setsar=1",
  ],
  "with a watermark inside the padding and above the blur": [
    { spec: { ...box(426, 300), watermark, blur: 3 } },
    `scale=426:240:flags=bicubic,format=yuv420p,gblur=sigma=4.8[vbase];${OVERLAY},pad=426:300:0:30,setsar=1`,
  ],
  "with a watermark for hardware": [
    { spec: { watermark }, target: { pixelFormat: "nv12", step: 2 } },
    `scale=426:240:flags=bicubic,format=yuv420p[vbase];${OVERLAY},setsar=1,format=nv12`,
  ],
  "with a watermark in HDR": [
    { source: HDR, spec: { watermark }, target: TEN_BITS },
    "scale=426:240:flags=bicubic,format=yuv420p10le[vbase];" +
      `[1:v:0]${WATERMARK},zscale=min=gbr:pin=bt709:tin=iec61966-2-1:rin=full:m=gbr:p=bt709:t=linear:npl=203,format=gbrapf32le,` +
      "zscale=p=bt2020:t=smpte2084:m=bt2020nc:r=limited:npl=203,format=yuva444p10le,format=yuva420p10le[voverlay];" +
      "[vbase][voverlay]overlay=x=W-w-4:y=H-h-4:format=yuv420p10,setsar=1",
  ],
  "HD without tags": [
    { source: UNTAGGED },
    "setparams=color_primaries=bt709:color_trc=bt709:colorspace=bt709,scale=426:240:flags=bicubic,format=yuv420p,setsar=1",
  ],
  "PAL without tags, as an image": [
    { source: { ...UNTAGGED, ...PAL }, target: IMAGE },
    "setparams=color_primaries=bt470bg:color_trc=smpte170m:colorspace=bt470bg,scale=300:240:flags=bicubic,format=gbrp,setsar=1",
  ],
  "full range": [
    { source: { pix_fmt: "yuvj420p" } },
    "scale=426:240:flags=bicubic:out_range=tv,format=yuv420p,setparams=range=tv:colorspace=bt709,setsar=1",
  ],
  "RGB with alpha": [
    { source: { ...UNTAGGED, pix_fmt: "rgba" } },
    "scale=1920:1080,setparams=color_primaries=bt709:color_trc=bt709,format=gbrap,premultiply=inplace=1,format=gbrp," +
      "scale=426:240:flags=bicubic:out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=range=tv:colorspace=bt709,setsar=1",
  ],
  "alpha in PAL's matrix, with the name that scale uses for it": [
    { source: { ...PAL_COLORS, pix_fmt: "yuva420p" } },
    "scale=1920:1080,format=gbrap,premultiply=inplace=1,format=gbrp," +
      "scale=426:240:flags=bicubic:out_color_matrix=bt470:out_range=tv,format=yuv420p,setparams=range=tv:colorspace=bt470bg,setsar=1",
  ],
  "alpha kept": [
    { source: { pix_fmt: "yuva444p12le" }, target: { pixelFormat: "yuva444p10le", step: 2 } },
    "scale=426:240:flags=bicubic,format=yuva444p10le,setsar=1",
  ],
  "JPEG's own colors for motion JPEG": [
    { target: { pixelFormat: "yuvj420p", step: 2 } },
    "scale=426:240:flags=bicubic,format=gbrp,setsar=1,scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p",
  ],
  "HDR for 8 bits": [
    { source: HDR },
    `scale=426:240:flags=bicubic,${toneMap(4.93, "m=bt709:r=limited")},format=yuv420p,setsar=1`,
  ],
  "HDR with a stated peak, as an image": [
    { source: { ...HDR, ...GRADED }, target: IMAGE },
    `scale=427:240:flags=bicubic,format=gbrp12le,${toneMap(2.96, "m=gbr:r=full")},format=gbrp,setsar=1`,
  ],
  "HLG with incomplete tags": [
    { source: { ...HDR, ...UNTAGGED, color_transfer: "arib-std-b67" }, target: TEN_BITS },
    "setparams=color_primaries=bt2020:colorspace=bt2020nc,scale=426:240:flags=bicubic,format=yuv420p10le,setsar=1",
  ],
  "a wide gamut without HDR": [
    { source: { ...HDR, color_transfer: "bt2020-10" } },
    "scale=426:240:flags=bicubic,zscale=p=bt709:t=bt709:m=bt709:r=limited,format=yuv420p,setsar=1",
  ],
};

test.each(Object.entries(CASES))("%s", (_, [options, expected]) => {
  expect(graph(options)).toBe(`[0:0]${expected}[v]`);
});

test("fails to convert HDR without the filters, and keeps 10 bits", () => {
  const failure = { code: "encoder_not_available", message: expect.stringContaining("lacks the filter `zscale`") };
  expect(graph({ source: HDR, filters: [] })).toEqual(failure);
  expect(graph({ source: HDR, spec: { watermark }, target: TEN_BITS, filters: ["overlay"] })).toEqual(failure);
  expect(graph({ source: HDR, target: TEN_BITS, filters: [] })).toContain("format=yuv420p10le");
});

// ffmpeg rotates frames before all filters.
test.each([
  [0, {}, "1920:1080"],
  [90, {}, "1080:1920"],
  [-90, {}, "1080:1920"],
  [180, {}, "1920:1080"],
  [-180, {}, "1920:1080"],
  [270, {}, "1080:1920"],
  [0, PAL, "720:576"],
  [90, PAL, "576:720"],
  [180, PAL, "720:576"],
])("fixes the size of frames that ffmpeg has rotated by %i°: %j", (rotation, size, expected) => {
  const probe = { streams: [{ ...HD, ...size, side_data_list: [{ rotation }], index: 0 }], format: {} };
  const { video } = chooseTracks(probe);
  const [scale, pad] = video ? fixedSizeFilters(video) : [];
  const [width, height] = expected.split(":");
  expect(pad).toBe(`pad=${expected}:-1:-1:eval=frame`);
  expect(scale).toMatch(new RegExp(`^scale=w='if\\([^']*\\),${width},[^']*':h='if\\([^']*\\),${height},[^']*'`));
});
