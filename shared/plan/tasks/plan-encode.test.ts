import { expect, test } from "vitest";
import { ALLOWED_DECODERS } from "../../media/decoders.ts";
import { ALLOWED_DEMUXERS } from "../../media/demuxers.ts";
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import type { OutputOptions } from "../../testing/output-specs.ts";
import { withoutFitting } from "../../testing/plan-text.ts";
import { audioStream, BT709, planOf, probed, videoStream } from "../../testing/probes.ts";

const VIDEO = videoStream(1920, 1080, "30000/1001", BT709);
const AUDIO = audioStream();
const COVER = { codec_type: "video", codec_name: "mjpeg", width: 600, height: 600, disposition: { attached_pic: 1 } };

const probeOf = (...streams: Omit<ProbedStream, "index">[]) => probed(streams);

/** Plan of a shared decode: its run and its outputs; null if no output is possible. */
function plan(probe: MediaProbe, ...outputs: OutputOptions[]) {
  const { commands, failures } = planOf(probe, outputs, { source: "/work/job 1/input" });
  expect(commands.length).toBeLessThan(2);
  const [command] = commands;
  const [run] = command?.runs ?? [];
  return { command: command && run ? { ...run, outputs: command.outputs } : null, failures };
}

const HEAD =
  `-y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5 -protocol_whitelist file ` +
  `-format_whitelist ${ALLOWED_DEMUXERS} -codec_whitelist ${ALLOWED_DECODERS} ` +
  `-reinit_filter:v 0 -max_pixels:v 40000000 -i file:/work/job 1/input `;
const X264 = "-c:v libx264 -preset medium";
const TAIL = "-map_chapters -1 -movflags +faststart -write_tmcd 0 -movie_timescale 48000 -f mp4";
/** The filters that select images. `passed` is the number of timestamps before a frame. */
const selects = (passed: string, count: number): string =>
  `settb=1/1000000,setpts='10*(${passed})+1',fps=100000:start_time=0:round=down:eof_action=pass,` +
  `tpad=stop_mode=clone:stop=${count},trim=end_frame=${count},settb=1/100,setpts=10*N,`;
const JPEG = "-fps_mode passthrough -c:v mjpeg -q:v 2 -f image2";
const TO_JPEG = "setsar=1,scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p";
/** The part that notes how far the video was decoded: its graph, and its output. */
const decodedUntil = (seconds: number): string =>
  ` -filter_complex [0:0]fps=10:round=down:eof_action=pass,trim=end=${seconds}[times] `;
const DECODED =
  " -map [times] -c:v wrapped_avframe -fps_mode passthrough -enc_time_base 1/1000 -f framecrc decoded-times.txt";
const TICKS = "-map [ticks] -c:v wrapped_avframe -fps_mode vfr -enc_time_base 1/90000";

type Row = {
  name: string;
  probe: MediaProbe;
  outputs: OutputOptions[];
  argv: string;
  frames: number | null;
  durationMs: number;
  isRotated?: boolean;
};

const ROWS: Row[] = [
  {
    name: "one video",
    probe: probeOf(VIDEO, AUDIO),
    outputs: [{ format: "mp4:480p" }],
    argv:
      `-filter_complex [0:0]scale=854:480:flags=bicubic,format=yuv420p,setsar=1[v0] ` +
      `-map [v0] -map 0:1 ${X264} -crf 21 -maxrate 1500k -bufsize 3000k -g 150 -fps_mode vfr -c:a aac -b:a 128k ${TAIL} 0.mp4`,
    frames: 1798,
    durationMs: 60_000,
  },
  {
    name: "videos and images from one decode, the untrimmed video first",
    probe: probeOf({ ...VIDEO, nb_frames: "1800" }, AUDIO),
    outputs: [
      { format: "jpg:300x300", number: 3 },
      { format: "mp4:320x240_24fps:x:quality=2,maxrate=400k", durationMs: 2500 },
      { format: "mp4:720p:64k_mono_44100hz" },
    ],
    argv:
      `-filter_complex [0:0]scale=1280:720:flags=bicubic,format=yuv420p,setsar=1[v2] -filter_complex [0:0]fps=24,scale=320:180:flags=bicubic,format=yuv420p,pad=320:240:0:30,setsar=1[v1] -filter_complex [0:0]${selects("clip(ceil((T-10.000437)/20),0,3)", 3)}` +
      `scale=300:169:flags=bicubic,format=gbrp,pad=300:300:0:65,${TO_JPEG}[v0]${decodedUntil(50.1)}` +
      `-map [v2] -map 0:1 ${X264} -crf 21 -maxrate 3000k -bufsize 6000k -g 150 -fps_mode vfr ` +
      `-c:a aac -af aformat=sample_fmts=fltp,aformat=channel_layouts=mono,alimiter=limit=0.944:level=0 -b:a 64k -ar 44100 ${TAIL} 2.mp4 ` +
      `-map [v1] ${X264} -crf 28 -maxrate 400k -bufsize 800k -g 120 -fps_mode vfr -t 2.5 ${TAIL} 1.mp4 ` +
      `-map [v0] -frames:v 3 ${JPEG} 0-%05d.jpg${DECODED}`,
    frames: 1800,
    durationMs: 60_000,
  },
  {
    name: "the default audio, not the first; the video, not the cover; pixels that are not square; a variable rate",
    probe: probeOf(
      COVER,
      AUDIO,
      { ...AUDIO, disposition: { default: 1 } },
      { ...VIDEO, width: 720, height: 576, sample_aspect_ratio: "64:45", avg_frame_rate: "24900/1000" },
    ),
    outputs: [{ format: "mp4" }],
    argv:
      "-filter_complex [0:3]select='isnan(prev_selected_t)+gte(t-prev_selected_t,0.000999)'," +
      `scale=1024:576:flags=bicubic,format=yuv420p,setsar=1[v0] -map [v0] -map 0:2 ${X264} ` +
      `-crf 21 -maxrate 1950k -bufsize 3900k -g 125 -x264-params fps=24.9 -fps_mode vfr -enc_time_base:v 1/90000 ` +
      `-c:a aac -b:a 128k ${TAIL} 0.mp4`,
    frames: 1494,
    durationMs: 60_000,
  },
  {
    name: "a rotated video without audio, with its length in a tag",
    probe: probeOf({ ...VIDEO, side_data_list: [{ rotation: -90 }], tags: { DURATION: "00:00:10.010000000" } }),
    outputs: [{ format: "mp4:240p" }],
    argv:
      `-filter_complex [0:0]scale=136:240:flags=bicubic,format=yuv420p,setsar=1[v0] -map [v0] ${X264} ` +
      `-crf 21 -maxrate 750k -bufsize 1500k -g 150 -fps_mode vfr ${TAIL} 0.mp4`,
    frames: 300,
    durationMs: 10_010,
    isRotated: true,
  },
  {
    name: "audio only",
    probe: probeOf(VIDEO, AUDIO),
    outputs: [{ format: "mp4:x:64k_stereo", durationMs: 1000 }],
    argv: `-map 0:1 -c:a aac -b:a 64k -t 1 ${TAIL} 0.mp4`,
    frames: null,
    durationMs: 1000,
  },
  {
    name: "images only, with a part that counts frames for the progress",
    probe: probeOf({ ...VIDEO, start_time: "2.000000", duration: "40.000000" }, AUDIO),
    outputs: [{ format: "jpg:99x", number: 2, square: true }],
    argv:
      `-filter_complex [0:0]null[ticks] -filter_complex [0:0]${selects("clip(ceil((T-12.000437)/20),0,2)", 2)}` +
      `scale=1920:1080,crop=iw*9/16:ih,scale=99:99:flags=bicubic,format=gbrp,${TO_JPEG}[v0]${decodedUntil(32.1)}` +
      `${TICKS} -t 32 -f null - -map [v0] -frames:v 2 ${JPEG} 0-%05d.jpg${DECODED}`,
    frames: 899,
    durationMs: 32_000,
  },
  {
    name: "images from beyond the end of a trimmed video",
    probe: probeOf(VIDEO),
    outputs: [{ format: "mp4:240p", durationMs: 5000 }, { format: "jpg" }],
    argv:
      `-filter_complex [0:0]null[ticks] -filter_complex [0:0]scale=426:240:flags=bicubic,format=yuv420p,setsar=1[v0] -filter_complex [0:0]${selects("gt(T-30.000437,0)", 1)}` +
      `scale=1920:1080:flags=bicubic,format=gbrp,${TO_JPEG}[v1]${decodedUntil(30.1)}` +
      `${TICKS} -t 30 -f null - ` +
      `-map [v0] ${X264} -crf 21 -maxrate 750k -bufsize 1500k -g 150 -fps_mode vfr -t 5 ${TAIL} 0.mp4 ` +
      `-map [v1] -frames:v 1 ${JPEG} 1-%05d.jpg${DECODED}`,
    frames: 899,
    durationMs: 30_000,
  },
];

test.each(ROWS)("$name", ({ probe, outputs, argv, frames, durationMs, isRotated = false }) => {
  const { command, failures } = plan(probe, ...outputs);
  expect(failures).toEqual([]);
  expect(withoutFitting(command?.argv.join(" ") ?? "")).toBe(
    (isRotated ? HEAD.replace("-reinit_filter:v 0 ", "") : HEAD) + argv,
  );
  expect(command).toMatchObject({ expectedFrames: frames, durationMs });
});

test("states files and the least end of each track for outputs, in the order of the command", () => {
  const probe = probeOf({ ...VIDEO, duration: "50.000000" }, { ...AUDIO, duration: "60.000000" });
  const outputs = [{ format: "jpg", number: 2 }, { format: "mp4" }, { format: "mp4:x" }, { format: "mp4::x" }];
  const [video, audio] = [
    { kind: "video", endMs: 50_000 },
    { kind: "audio", endMs: 60_000 },
  ];
  const note = "The input's video ends at 50.00 s, its audio at 60.00 s.";
  expect(plan(probe, ...outputs, { format: "mp4", durationMs: 90_000 }).command?.outputs).toEqual([
    { output: 1, files: ["1.mp4"], tracks: [video, audio], encoder: "libx264", note },
    { output: 4, files: ["4.mp4"], tracks: [video, audio], encoder: "libx264", note },
    { output: 3, files: ["3.mp4"], tracks: [video], encoder: "libx264" },
    {
      output: 0,
      files: ["0-00001.jpg", "0-00002.jpg"],
      tracks: [{ kind: "video", endMs: null }],
      neededFrame: { startMs: 37_500, timestampMs: 37_500, originMs: 0 },
    },
    { output: 2, files: ["2.mp4"], tracks: [audio], encoder: "aac" },
  ]);
});

test("expects no end if the end is estimated, or may be the end of another stream", () => {
  const ends = (probe: MediaProbe, output: OutputOptions) =>
    plan(probe, output).command?.outputs[0]?.tracks.map(({ endMs }) => endMs);
  const of = (format_name: string, ...streams: Omit<ProbedStream, "index">[]): MediaProbe => {
    const probe = probeOf(...streams);
    return { ...probe, format: { ...probe.format, format_name } };
  };
  const long = { ...AUDIO, duration: "60.000000" };
  expect(ends(of("mp3", long), { format: "mp4:x" })).toEqual([null]);
  expect(ends(of("wav", long), { format: "mp4:x" })).toEqual([60_000]);
  expect(ends(of("matroska,webm", AUDIO), { format: "mp4:x" })).toEqual([60_000]);
  expect(ends(of("matroska,webm", VIDEO, AUDIO), { format: "mp4" })).toEqual([null, null]);
  const tagged = { ...AUDIO, tags: { DURATION: "00:00:50.0" } };
  expect(ends(of("matroska,webm", VIDEO, tagged), { format: "mp4" })).toEqual([null, 50_000]);
  // ffprobe returns the length of the file for such a stream, in which a caption may end later.
  expect(ends(of("matroska,webm", VIDEO, { ...tagged, duration: "60.0" }), { format: "mp4" })).toEqual([null, 50_000]);
  // A run with far more frames than expected is stopped, so a short estimate must not set an expectation.
  expect(plan(of("mpegvideo", { ...VIDEO, duration: "3.0" }), { format: "mp4" }).command?.expectedFrames).toBeNull();
});

test("expects late audio without its lead if the container has no timestamps", () => {
  const late = probeOf(VIDEO, { ...AUDIO, start_time: "3.000000", duration: "50.000000" });
  const outputs = ["mp4:x", "ogg", "mp3", "aac", "wav", "flac"].map((format) => ({ format }));
  const { command } = plan(late, ...outputs, { format: "mp3", durationMs: 10_000, params: { offset: 1 } });
  const ends = command?.outputs.map(({ tracks }) => tracks[0]?.endMs);
  expect(ends).toEqual([53_000, 53_000, 50_000, 50_000, 50_000, 50_000, 8000]);
});

test("leaves out audio that starts after the trim", () => {
  const late = { ...AUDIO, start_time: "3.000000", duration: "50.000000" };
  const kinds = (format: string) =>
    plan(probeOf(VIDEO, late), { format, durationMs: 2000 }).command?.outputs[0]?.tracks.map(({ kind }) => kind);
  expect(kinds("mp4")).toEqual(["video"]);
  expect(kinds("mp4:x")).toEqual(["audio"]);
});

test.each([
  [{ width: 4000, height: 16 }, "mp4:240p", /output's frames would have 60000x240 pixels/],
  [{ width: 64, height: 64 }, "jpg:8000x", /output's frames would have 8000x8000 pixels/],
  [{ width: 64, height: 64 }, "mp4:8000x8000", /output's frames would have 8000x8000 pixels/],
  [{ width: 9000, height: 100 }, "mp4:240p", /input's video has frames of 9000x100 pixels/],
  [{ width: 8000, height: 6000 }, "jpg:64x", /input's video has frames of 8000x6000 pixels/],
])("a source of %j as %s fails because of its size", (size, format, message) => {
  const { command, failures } = plan(probeOf({ ...VIDEO, ...size }, AUDIO), { format }, { format: "mp4:x" });
  expect(failures).toEqual([
    { output: 0, failure: { code: "output_size_not_possible", message: expect.stringMatching(message) } },
  ]);
  expect(command?.outputs.map(({ output }) => output)).toEqual([1]);
});

test("accepts a source of 8K", () => {
  expect(plan(probeOf({ ...VIDEO, width: 7680, height: 4320 }), { format: "mp4" }, { format: "jpg" }).failures).toEqual(
    [],
  );
});

test("takes images a second apart without a length, and expects no length of videos", () => {
  // A recording by a browser: no length, and a time base instead of a rate.
  const live = { ...probeOf({ ...VIDEO, r_frame_rate: "1000/1", avg_frame_rate: "1000/1" }), format: {} };
  const { command } = plan(live, { format: "mp4:240p" }, { format: "jpg", number: 2 });
  expect(withoutFitting(command?.argv.join(" ") ?? "")).toContain(selects("clip(ceil((T-0.500437)/1),0,2)", 2));
  expect(withoutFitting(command?.argv.join(" ") ?? "")).toContain(
    "-x264-params fps=30 -fps_mode vfr -enc_time_base:v 1/90000 ",
  );
  expect(command).toMatchObject({
    expectedFrames: null,
    durationMs: null,
    outputs: [{ tracks: [{ endMs: null }] }, {}],
  });
});

test.each([
  ["30000/1001", "30000/1001", "-fps_mode vfr -c:a"],
  ["25/1", "24983/1000", "-fps_mode vfr -c:a"],
  ["60/1", "2997/100", "-x264-params fps=29.97 -fps_mode vfr -enc_time_base:v 1/90000 -c:a"],
  ["26921/1000", "26921/1000", "-x264-params fps=26.921 -fps_mode vfr -enc_time_base:v 1/90000 -c:a"],
  ["1000/1", "1000/1", "-x264-params fps=30 -fps_mode vfr -enc_time_base:v 1/90000 -c:a"],
  ["0/0", "0/0", "-x264-params fps=30 -fps_mode vfr -enc_time_base:v 1/90000 -c:a"],
])("a source of %s, on average %s frames per second, is timed by %s", (r_frame_rate, avg_frame_rate, timing) => {
  const { command } = plan(probeOf({ ...VIDEO, r_frame_rate, avg_frame_rate }, AUDIO), { format: "mp4" });
  expect(withoutFitting(command?.argv.join(" ") ?? "")).toContain(` ${timing}`);
});

test.each([
  ["25/1", "25/1", "25"],
  ["30000/1001", "30000/1001", "30000/1001"],
  ["48/1", "48/1", "48"],
  ["25/1", "24983/1000", "25"],
  ["50/1", "25/1", "25"],
  ["1/10", "1/10", "5"],
  ["1/1", "1/1", "5"],
  ["25/1", "10/1", "25"],
  ["30/1", "2998/100", "30"],
  ["1000/1", "29/1", "30000/1001"],
  ["0/0", "0/0", "30"],
  ["120/1", "12/1", "20"],
  ["120/1", "31/1", null],
  ["240/1", "239/1", null],
])(
  "captions in a source of %s, on average %s frames per second, are drawn at %s",
  (r_frame_rate, avg_frame_rate, fps) => {
    const burn = { url: "https://example.com/a.srt" };
    const { command } = plan(probeOf({ ...VIDEO, r_frame_rate, avg_frame_rate }), { format: "mp4", params: { burn } });
    expect(/\bfps=([\d/]+),/.exec(command?.argv.join(" ") ?? "")?.[1] ?? null).toBe(fps);
  },
);

test.each([
  ["mp4", COVER, AUDIO, "input_has_no_video"],
  ["mp4:240p:x", AUDIO, AUDIO, "input_has_no_video"],
  ["jpg", AUDIO, COVER, "input_has_no_video"],
  ["mp4:x:64k", VIDEO, COVER, "input_has_no_audio"],
])("%s fails if the input lacks the track, and other outputs do not", (format, first, second, code) => {
  const failure = { code, message: expect.stringMatching(/^The input has no (video|audio) stream/) };
  const probe = probeOf(first, second);
  expect(plan(probe, { format })).toEqual({ command: null, failures: [{ output: 0, failure }] });
  const other = code === "input_has_no_video" ? "mp4:x" : "mp4:240p";
  const both = plan(probe, { format }, { format: other });
  expect(both.failures).toEqual([{ output: 0, failure }]);
  expect(both.command?.outputs.map(({ output }) => output)).toEqual([1]);
});

const timecoded = (format: string, more: object = {}): OutputOptions => ({
  format,
  params: { overlays: [{ timecode: "01:00:00:00" }], ...more },
});
const STREAM = timecoded("httpstream", { hls: { path: "h" }, variants: ["mp4:360p", "mp4:240p"], thumbnails: true });

test.each([
  ["images by seeking", [timecoded("jpg", { offsets: [1, 30, 59] })], [{ outputs: [0], drawn: 1 }]],
  ["renditions", [STREAM], [{ outputs: [0], drawn: 1 }]],
  ["files with the same start", [timecoded("mp4"), timecoded("webm"), STREAM], [{ outputs: [0, 1, 2], drawn: 1 }]],
  [
    "files with other starts, and images",
    [timecoded("mp4"), timecoded("mp4", { offset: 20 }), { format: "mp4:240p" }, timecoded("jpg", { number: 2 })],
    [
      { outputs: [0, 2], drawn: 1 },
      { outputs: [1], drawn: 1 },
      { outputs: [3], drawn: 1 },
    ],
  ],
])("timecodes of %s are drawn in one graph of a command, without waits for later frames", (_, outputs, expected) => {
  const streams = [{ ...VIDEO, avg_frame_rate: "25/1", r_frame_rate: "25/1" }];
  const probe = probed(streams, { format_name: "mov,mp4,m4a,3gp,3g2,mj2", duration: "60.000000" });
  const { commands, failures } = planOf(probe, outputs);
  expect(failures).toEqual([]);
  const drawn = commands.map(({ runs, outputs }) => ({
    outputs: outputs.map(({ output }) => output).toSorted((a, b) => a - b),
    drawn: Math.max(...runs.map(({ argv }) => argv.filter((argument) => argument.includes("drawtext=")).length)),
  }));
  expect(drawn).toEqual(expected);
});
