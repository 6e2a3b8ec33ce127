import { expect, test } from "vitest";
import { ALLOWED_DECODERS } from "../../media/decoders.ts";
import { ALLOWED_DEMUXERS } from "../../media/demuxers.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import type { OutputOptions } from "../../testing/output-specs.ts";
import { withoutFitting } from "../../testing/plan-text.ts";
import { BT709, planOf, probed, videoStream } from "../../testing/probes.ts";

/** 640×360 in 4:2:0 at 25 frames per second. */
const source = (seconds: number, format_name = "mov,mp4,m4a,3gp,3g2,mj2") => {
  const duration = String(seconds);
  return probed([videoStream(640, 360, "25/1", { pix_fmt: "yuv420p", ...BT709, duration })], { format_name, duration });
};

/** The command lines, without their common parts. */
function lines(probe: MediaProbe, ...outputs: OutputOptions[]): string[] {
  const { commands, failures } = planOf(probe, outputs);
  expect(failures).toEqual([]);
  const head = "-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5 ";
  const opening = `-protocol_whitelist file -format_whitelist ${ALLOWED_DEMUXERS} -codec_whitelist ${ALLOWED_DECODERS} `;
  return commands
    .flatMap(({ runs }) => runs)
    .map(({ argv }) =>
      withoutFitting(argv.join(" "))
        .replace(head, "")
        .replaceAll(opening, "")
        .replaceAll("-reinit_filter:v 0 -max_pixels:v 40000000 -i file:/in", "IN"),
    );
}

const selects = (passed: string, count: number, spread = "settb=1/100,setpts=10*N,"): string =>
  `settb=1/1000000,setpts='10*(${passed})+1',fps=100000:start_time=0:round=down:eof_action=pass,` +
  `tpad=stop_mode=clone:stop=${count},trim=end_frame=${count}${spread && `,${spread}`}`;
const ticks = "-map [ticks] -c:v wrapped_avframe -fps_mode vfr -enc_time_base 1/90000";
const DECODE = "IN -filter_complex [0:0]null[ticks] -filter_complex [0:0]";
const scaled = (size: string): string => `scale=${size}:flags=bicubic,format=gbrp,setsar=1`;
/** The part that notes how far the video was decoded: its graph, and its output. */
const decodedUntil = (seconds: number, input = 0): string =>
  ` -filter_complex [${input}:0]fps=10:round=down:eof_action=pass,trim=end=${seconds}[times] `;
const DECODED =
  " -map [times] -c:v wrapped_avframe -fps_mode passthrough -enc_time_base 1/1000 -f framecrc decoded-times.txt";
const STILLS = "-fps_mode passthrough -c:v";

test.each<[name: string, probe: MediaProbe, output: OutputOptions, lines: string[]]>([
  [
    "offsets, in order of time; webp",
    source(20),
    { format: "webp:320x", params: { offsets: [9, 3.5] } },
    [
      `${DECODE}${selects("gt(T-3.500437,0)+gt(T-9.000437,0)", 2)}${scaled("320:180")},` +
        `scale=out_color_matrix=bt601:out_range=tv,format=yuv420p[v0]${decodedUntil(9.1)}${ticks} -t 9 -f null - ` +
        `-map [v0] -frames:v 2 ${STILLS} libwebp -quality 80 -f image2 0-%05d.webp${DECODED}`,
    ],
  ],
  [
    "an automatic interval on sheets of cells that are 160 wide",
    source(60),
    { format: "jpg", params: { interval: 0, sprite: { limit: 25 } } },
    [
      `${DECODE}${selects("clip(ceil((T-0.000437)/2),0,30)", 30)}${scaled("160:90")},` +
        "tile=4x7:nb_frames=25:color=black,setsar=1,scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p[v0]" +
        `${decodedUntil(58.1)}${ticks} -t 58 -f null - ` +
        `-map [v0] -frames:v 2 ${STILLS} mjpeg -q:v 2 -f image2 0-%05d.jpg${DECODED}`,
    ],
  ],
  [
    "animated scenes with the maximum width",
    source(10),
    { format: "gif", params: { scene: { number: 2, duration: 1 } } },
    [
      `${DECODE}${selects("clip(ceil((T-2.000437)/0.1),0,10)+clip(ceil((T-7.000437)/0.1),0,10)", 20)}` +
        `${scaled("500:281")},split[v0gen][v0use];[v0gen]tpad=stop=1,palettegen=stats_mode=diff[v0pal];` +
        "[v0use][v0pal]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle[v0]" +
        `${decodedUntil(8)}${ticks} -t 7.9 -f null - ` +
        `-map [v0] -frames:v 20 ${STILLS} gif -loop 0 -final_delay 10 -f gif 0.gif${DECODED}`,
    ],
  ],
  [
    "few images of a long source, by seeking; avif",
    source(600),
    { format: "avif:320x", number: 2 },
    [
      `-noaccurate_seek -ss 150 IN -noaccurate_seek -ss 450 IN ${[0, 1]
        .map(
          (at) =>
            `-filter_complex [${at}:0]${selects("gt(T-0.000437,0)", 1)}${scaled("320:180")},` +
            `scale=out_color_matrix=bt601:out_range=pc,format=yuv420p[v0at${at}] -map [v0at${at}] -frames:v 1 ` +
            `${STILLS} libaom-av1 -usage allintra -cpu-used 6 -g 0 -crf 24 -f image2 ` +
            `-start_number ${at + 1} 0-%05d.avif`,
        )
        .join(" ")}${decodedUntil(0.1, 1)}${DECODED.trimStart()}`,
    ],
  ],
])("%s", (_, probe, output, expected) => {
  expect(lines(probe, output)).toEqual(expected);
});

test.each<[name: string, probe: MediaProbe, outputs: OutputOptions[], inputs: number[]]>([
  ["few images of a long source", source(3600), [{ format: "jpg", number: 7 }], [7]],
  ["two outputs with few images", source(3600), [{ format: "jpg", number: 3 }, { format: "png" }], [3, 1]],
  ["eight at a time", source(3600), [{ format: "jpg", number: 20 }], [8, 8, 4]],
  ["scenes with one seek each", source(3600), [{ format: "gif", params: { scene: { number: 3 } } }], [3, 0]],
  ["sheets of lossless frames", source(3600), [{ format: "jpg", number: 9, params: { sprite: true } }], [8, 1, 0]],
  ["images next to a video of the whole source", source(3600), [{ format: "mp4" }, { format: "jpg" }], [1]],
  [
    "images next to a video of the start of the source",
    source(3600),
    [{ format: "mp4", durationMs: 9000 }, { format: "jpg" }],
    [1, 1],
  ],
  ["too many images for seeking", source(60), [{ format: "jpg", number: 12 }], [1]],
  ["images close together", source(3600), [{ format: "jpg", params: { interval: 1 } }], [1]],
  ["a source without an index", source(3600, "mpegts"), [{ format: "jpg" }], [1]],
])("the source is opened once for each timestamp, or decoded completely: %s", (_, probe, outputs, inputs) => {
  expect(lines(probe, ...outputs).map((line) => line.split("IN").length - 1)).toEqual(inputs);
});

test("makes an animation of numbered frames", () => {
  const [frames = "", joined = ""] = lines(source(3600), {
    format: "gif:64x36",
    params: { scene: { number: 2, duration: 1 } },
  });
  expect([...frames.matchAll(/-f image2 -start_number \d+ \S+/g)].map(([written]) => written)).toEqual([
    "-f image2 -start_number 1 0-frame-%05d.png",
    "-f image2 -start_number 11 0-frame-%05d.png",
  ]);
  expect(joined).toMatch(
    /-format_whitelist image2 -f image2 -codec_whitelist png -framerate 10 -max_pixels:v \d+ -i file:0-frame-%05d\.png -filter_complex \[0:v\]format=gbrp,/,
  );
});

test("orders files by the requested offsets, and cues by time from 0 to the end", () => {
  const options: OutputOptions = { format: "jpg", params: { offsets: [12, 3.5, 12], path: "a b/%02d.jpg", vtt: true } };
  const [output] = planOf(source(20), [options]).commands[0]?.outputs ?? [];
  expect(output?.files).toEqual(["0-00002.jpg", "0-00001.jpg", "0-00003.jpg", "0.vtt"]);
  expect(output?.texts).toEqual([
    {
      file: "0.vtt",
      text: "WEBVTT\n\n00:00:00.000 --> 00:00:12.000\n02.jpg\n\n00:00:12.000 --> 00:00:20.000\n03.jpg\n",
    },
  ]);
});

test("the cues of sprite sheets name a box for each slot", () => {
  const params = { sprite: { limit: 2, columns: 2 }, vtt: { filename: "map.vtt" }, path: "t/%d.jpg" };
  const [output] = planOf(source(6), [{ format: "jpg:100x100", number: 3, params }]).commands[0]?.outputs ?? [];
  expect(output?.files).toEqual(["0-00001.jpg", "0-00002.jpg", "0.vtt"]);
  expect(output?.texts?.[0]?.text.split("\n\n").slice(1)).toEqual([
    "00:00:00.000 --> 00:00:02.000\n1.jpg#xywh=0,0,100,100",
    "00:00:02.000 --> 00:00:04.000\n1.jpg#xywh=100,0,100,100",
    "00:00:04.000 --> 00:00:06.000\n2.jpg#xywh=0,0,100,100\n",
  ]);
});

test.each<[OutputOptions, string, RegExp]>([
  [{ format: "jpg", params: { offsets: [3, 61] } }, "offset_beyond_end", /61 s: the input ends at 60 s/],
  [{ format: "webp:160x", params: { interval: 0.06, sprite: true } }, "output_size_not_possible", /sprite\.limit/],
  [{ format: "jpg:640x", params: { interval: 0.2, sprite: true } }, "output_size_not_possible", /2560x27000 pixels/],
])("%j fails with %s", (output, code, message) => {
  expect(planOf(source(60), [output]).failures).toEqual([
    { output: 0, failure: { code, message: expect.stringMatching(message) } },
  ]);
});
