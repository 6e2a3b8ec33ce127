import { describe, expect, test } from "vitest";
import type { ProbedStream } from "../../media/media-probe.ts";
import { filledFromZero, withoutFitting } from "../../testing/plan-text.ts";
import { audioStream, BT709, planOf, probed, videoStream } from "../../testing/probes.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";

const MINUTE = { duration: "60.000000" };
const video = (width: number, height: number, more: object = {}) =>
  videoStream(width, height, "25/1", { ...BT709, ...MINUTE, ...more });
const SLOW = { r_frame_rate: "1/7", avg_frame_rate: "1/7" };
const AUDIO = audioStream(MINUTE);
const SURROUND = { ...AUDIO, channels: 6, channel_layout: "5.1" };

function plan(streams: Omit<ProbedStream, "index">[], params: object, hardware = ALL_SOFTWARE.hardware) {
  const outputs = [{ format: "httpstream", params: { ...params } }];
  const { commands, failures } = planOf(probed(streams), outputs, { capabilities: { ...ALL_SOFTWARE, hardware } });
  const output = commands[0]?.outputs[0];
  return { argv: commands[0]?.runs[0]?.argv ?? [], output, failures };
}

/** The choices of a player, such as `720p=1280x720+audio-128k`. */
function choices(streams: Omit<ProbedStream, "index">[], params: object): string[] {
  const { output, failures } = plan(streams, params);
  const { tracks = [], variants = [] } = output?.stream ?? {};
  const named = variants.map(({ video, audio }) => {
    const frame = tracks.find(({ name }) => name === video)?.video?.frame;
    return [...(frame ? [`${video}=${frame.width}x${frame.height}`] : []), ...(audio ? [audio] : [])].join("+");
  });
  return [...named, ...failures.map(({ failure }) => failure.code)];
}

const HLS = { hls: { path: "h" } };

describe("the variants of a stream", () => {
  const ladder = (sizes: string): string[] => [
    ...sizes.split(" ").map((size) => `${Math.min(...size.split("x").map(Number))}p=${size}+audio-128k`),
    "audio-64k",
  ];
  const ROWS: [name: string, streams: Omit<ProbedStream, "index">[], params: object, expected: string[]][] = [
    [
      "the ladder up to the source, audio only last",
      [video(1920, 1080), AUDIO],
      HLS,
      ladder("426x240 640x360 854x480 1280x720 1920x1080"),
    ],
    ["portrait for portrait", [video(1080, 1920), AUDIO], HLS, ladder("240x426 360x640 480x854 720x1280 1080x1920")],
    [
      "portrait for a source with rotation",
      [video(1280, 720, { side_data_list: [{ rotation: -90 }] })],
      HLS,
      ["240p=240x426", "360p=360x640", "480p=480x854", "720p=720x1280"],
    ],
    ["wider than a box, no bars", [video(1920, 800), AUDIO], HLS, ladder("576x240 864x360 1152x480 1280x534 1920x800")],
    [
      "a rung slightly above the source has the size of the source",
      [video(1274, 716), AUDIO],
      HLS,
      ladder("428x240 640x360 854x480 1274x716"),
    ],
    ["a source below all rungs keeps its size", [video(160, 120)], HLS, ["120p=160x120"]],
    [
      "without fragmented MP4, HEVC and the audio that only it uses are left out",
      [video(640, 360), AUDIO],
      { ...HLS, variants: ["mp4:240p:96k", "mp4:hevc_240p:64k"] },
      ["240p=426x240+audio-96k"],
    ],
    [
      "every video has a choice with each audio codec, which is the first with that codec",
      [video(640, 360), AUDIO],
      {
        hls: { path: "h", segments: "fmp4" },
        variants: ["mp4:av1_240p", "mp4:240p:opus_96k", "mp4:x120:x", "mp4:x:opus_64k"],
      },
      [
        ...["240p-av1=426x240+audio-128k", "240p-av1=426x240+audio-opus-96k"],
        ...["240p=426x240+audio-opus-96k", "240p=426x240+audio-128k", "120p=214x120", "audio-opus-64k"],
      ],
    ],
    [
      "MPEG-TS gets the first audio that it holds, also from a variant of another codec",
      [video(640, 360), AUDIO],
      { hls: { path: "h", segments: "mpegts" }, variants: ["mp4:240p:opus_96k", "mp4:av1_240p", "mp4:x:64k"] },
      ["240p=426x240+audio-128k", "audio-64k"],
    ],
    [
      "copies of AC-3 fit MPEG-TS, and other copies do not",
      [video(640, 360), { ...AUDIO, codec_name: "ac3" }],
      { hls: { path: "h", segments: "mpegts" }, variants: ["mp4:240p:copy", "mp4:hevc_240p:copy"] },
      ["240p=426x240+audio-copy"],
    ],
    [
      "only AC-3 and E-AC-3 are copied",
      [video(640, 360), AUDIO],
      { dash: { path: "d" }, variants: ["mp4:240p:copy"] },
      ["copy_not_possible"],
    ],
    ["no audio", [video(640, 360)], HLS, ["240p=426x240", "360p=640x360"]],
    ["audio only, each bitrate once", [AUDIO], HLS, ["audio-64k", "audio-128k"]],
    [
      "requested variants are kept, also above the source, without bars",
      [video(640, 480), AUDIO],
      { ...HLS, variants: ["mp4:x:48k", "mp4:720p:96k", "mp4:720p_400k:96k", "mp4:480p:96k", "mp4:480p:96k"] },
      ["720p=960x720+audio-96k", "720p-2=960x720+audio-96k", "480p=640x480+audio-96k", "audio-48k"],
    ],
    ["video only, of a source without video", [AUDIO], { ...HLS, variants: ["mp4:720p:x"] }, ["input_has_no_video"]],
    ["audio only, of a silent source", [video(640, 360)], { ...HLS, variants: ["mp4:x"] }, ["input_has_no_audio"]],
  ];

  test.each(ROWS)("%s", (_, streams, params, expected) => {
    expect(choices(streams, params)).toEqual(expected);
  });

  test("show a crop as if it were the source, and keep boxes on a blurred backdrop", () => {
    const portrait = { crop: { x: 100, y: 0, width: 608, height: "100%" } };
    expect(choices([video(1920, 1080), AUDIO], { ...HLS, ...portrait })).toEqual(ladder("240x426 360x640 480x852"));
    const boxes = { variants: ["mp4:540x960", "mp4:90x160"], drop_larger_variants: true, fit: "blur" };
    expect(choices([video(640, 360)], { ...HLS, ...boxes })).toEqual(["540p=540x960", "90p=90x160"]);
    expect(choices([video(360, 640)], { ...HLS, ...boxes })).toEqual(["90p=90x160"]);
    expect(choices([video(640, 360)], { ...HLS, crop: { width: 1280, height: 720 } })).toEqual(["crop_not_possible"]);
  });
});

test("the command encodes each track once, and tee writes it for both packages", () => {
  const variants = ["mp4:240p_300k:96k", "mp4:hevc_480p_500k:96k"];
  const params = { ...HLS, dash: { path: "d" }, segment_duration: 4, variants };
  const { argv, output } = plan([video(1280, 720), SURROUND], params);
  const mp4 =
    "f=mp4:movflags=+frag_keyframe+empty_moov+default_base_moof+frag_discont:use_editlist=0:write_tmcd=0:flush_packets=1:" +
    "output_ts_offset=10:avoid_negative_ts=disabled";
  const ts = (name: string): string =>
    "f=hls:hls_time=4:hls_playlist_type=event:hls_flags=temp_file:hls_segment_type=mpegts:" +
    `hls_segment_filename=${name}-%05d.ts:hls_segment_options=mpegts_copyts=1:max_delay=700000:` +
    "output_ts_offset=10:avoid_negative_ts=disabled";
  const grid =
    "-force_key_frames expr:isnan(prev_forced_t)+gt(floor((t+0.0005)/2),floor((prev_forced_t+0.0005)/2)) -g 9999";
  const plain = "-map_metadata -1 -map_chapters -1 -fflags +bitexact";
  expect(withoutFitting(argv.slice(argv.indexOf("-filter_complex")).join(" "))).toBe(
    [
      "-filter_complex [0:0]scale=426:240:flags=bicubic,format=yuv420p,setsar=1[v0t0] -filter_complex [0:0]scale=854:480:flags=bicubic,format=yuv420p,setsar=1[v0t1]",
      ` -map [v0t0] -c:v libx264 -preset medium -b:v 300k -maxrate 450k -bufsize 600k ${grid} -keyint_min 1`,
      ` -sc_threshold 0 -fps_mode vfr ${plain} -flags +bitexact+global_header -f tee`,
      ` [${mp4}]0-240p.mp4|[${ts("0-240p")}]0-240p.m3u8`,
      ` -map [v0t1] -c:v libx265 -preset fast -b:v 500k -maxrate 750k -bufsize 1000k ${grid} -forced-idr 1`,
      " -x265-params log-level=error:open-gop=0:scenecut=0:min-keyint=1 -tag:v hvc1 -fps_mode vfr",
      ` ${plain} -flags +bitexact -movflags +frag_keyframe+empty_moov+default_base_moof+frag_discont`,
      " -use_editlist 0 -write_tmcd 0 -flush_packets 1 -output_ts_offset 10 -avoid_negative_ts disabled -f mp4 0-480p-hevc.mp4",
      ` -map 0:1 -c:a aac -af ${filledFromZero()} -b:a 96k`,
      ` ${plain} -flags +bitexact+global_header -f tee`,
      ` [${mp4}:frag_duration=500000]0-audio-96k.mp4|[${ts("0-audio-96k")}]0-audio-96k.m3u8`,
    ].join(""),
  );
  expect(output).toEqual({
    output: 0,
    files: [],
    tracks: [
      { kind: "video", endMs: 60_000 },
      { kind: "audio", endMs: 60_000 },
    ],
    note: "HLS is without hevc: MPEG-TS segments hold only h264, aac and ac3. With `segments: fmp4` it has all.",
    encoder: "libx264, libx265",
    stream: {
      tracks: [
        {
          name: "240p",
          kind: "video",
          fmp4: "0-240p.mp4",
          ts: "0-240p.m3u8",
          video: { frame: { width: 426, height: 240 }, fps: 25, hdr: null, captions: false },
        },
        {
          name: "480p-hevc",
          kind: "video",
          fmp4: "0-480p-hevc.mp4",
          ts: null,
          video: { frame: { width: 854, height: 480 }, fps: 25, hdr: null, captions: false },
        },
        { name: "audio-96k", kind: "audio", fmp4: "0-audio-96k.mp4", ts: "0-audio-96k.m3u8", video: null },
      ],
      variants: [
        { video: "240p", audio: "audio-96k" },
        { video: "480p-hevc", audio: "audio-96k" },
      ],
      thumbnails: null,
      chapters: [],
    },
  });
});

const GRID =
  "-force_key_frames expr:isnan(prev_forced_t)+gt(floor((t+0.0005)/2),floor((prev_forced_t+0.0005)/2)) -g 9999";
test.each([
  ["mp4:vp9_240p_300k", "7.0", "-c:v libvpx-vp9", `${GRID} -keyint_min 9999`],
  ["mp4:av1_240p", "7.0", "-c:v libsvtav1", `${GRID} -svtav1-params enable-force-key-frames=1`],
  ["mp4:av1_240p_300k", "n7.0-7-g1", "-c:v libsvtav1", `${GRID} -fps_mode`],
  ["mp4:av1_240p_300k", "5.1.9", "-c:v libaom-av1", `${GRID} -keyint_min 9999`],
  ["mp4:240p:opus", "7.0", "-c:a libopus", " -ar 48000 "],
  ["mp4:240p:flac", "7.0", "-c:a flac", " -strict experimental -f mp4"],
  ["mp4:240p:ac3_192k", "7.0", "-c:a ac3", "+frag_discont+delay_moov"],
])("encodes %s with ffmpeg %s: %s", (variant, ffmpegVersion, encoder, options) => {
  const outputs = [{ format: "httpstream", params: { dash: { path: "d" }, variants: [variant] } }];
  const streams = probed([video(640, 360), AUDIO]);
  const { commands } = planOf(streams, outputs, { capabilities: { ...ALL_SOFTWARE, ffmpegVersion } });
  const [, rest = ""] = commands[0]?.runs[0]?.argv.join(" ").split(encoder) ?? [];
  expect(rest).toContain(options);
});

test.each([
  [{ ...HLS, variants: ["mp4:240p", "mp4:av1_240p:opus"] }, "HLS is without av1, opus: MPEG-TS segments hold only"],
  [{ hls: { path: "h", segments: "fmp4" }, variants: ["mp4:vp9_240p"] }, "Safari does not play VP9 in HLS"],
  [{ dash: { path: "d" }, variants: ["mp4:vp9_240p"] }, undefined],
  [{ hls: { path: "h", segments: "fmp4" }, variants: ["mp4:240p", "mp4:av1_240p:opus"] }, undefined],
])("notes the codecs that players do not get from HLS: %j", (params, note) => {
  const { output } = plan([video(640, 360), AUDIO], params);
  expect(output?.note).toEqual(note && expect.stringContaining(note));
});

test.each([
  [2, "/2)"],
  [3, "/1.5)"],
  [5, "/1.666666666667)"],
  [6, "/2)"],
  [10, "/2)"],
])("segments of %d s are a whole number of keyframe distances", (seconds, expected) => {
  const { argv } = plan([video(640, 360)], { ...HLS, segment_duration: seconds });
  expect(argv[argv.indexOf("-force_key_frames") + 1]).toContain(expected);
});

test("makes thumbnails as sprite sheets from the same decode", () => {
  const { argv, output } = plan([video(640, 360)], { ...HLS, variants: ["mp4:240p"], thumbnails: true });
  expect(argv.filter((option) => option === "-filter_complex")).toHaveLength(2);
  expect(argv.slice(-1)).toEqual(["0-%05d.jpg"]);
  const { files, spriteSheet, everyMs, vtt } = output?.stream?.thumbnails ?? {};
  expect({ files, spriteSheet, everyMs }).toEqual({
    files: ["0-00001.jpg", "0-00002.jpg"],
    spriteSheet: { cell: { width: 160, height: 90 }, columns: 5, rows: 5, framesPerSheet: 25, sheets: 2 },
    everyMs: 2000,
  });
  expect(vtt).toContain("00:00:50.000 --> 00:00:52.000\nthumbnails/00002.jpg#xywh=0,0,160,90");
});

test("gives a slow source at least two frames per second", () => {
  const { argv, output } = plan([video(640, 360, SLOW)], { ...HLS, variants: ["mp4:240p"] });
  expect(argv.join(" ")).toContain("[0:0]fps=2,");
  expect(output?.stream?.tracks[0]?.video?.fps).toBe(2);
});

test("deinterlaces interlaced sources", () => {
  const { argv } = plan([video(720, 576, { field_order: "tt" })], { ...HLS, variants: ["mp4:240p"] });
  expect(argv.join(" ")).toContain("bwdif=mode=send_frame:deint=interlaced");
});

test("starts segments with IDR frames in hardware as well", () => {
  const hardware = { name: "nvenc", path: null, encoders: ["h264_nvenc"] } as const;
  const { argv, output } = plan(
    [video(1280, 720)],
    { ...HLS, variants: ["mp4:480p"] },
    { ...hardware, encoders: ["h264_nvenc"] },
  );
  expect(argv.join(" ")).toContain("-forced-idr 1 -no-scenecut 1");
  expect(output).toMatchObject({ encoder: "h264_nvenc", inHardware: true });
});

test("writes audio that only HEVC variants use to fragmented MP4 only", () => {
  const params = { ...HLS, dash: { path: "d" }, variants: ["mp4:hevc_240p:96k", "mp4:240p:64k"] };
  const { output } = plan([video(640, 360), AUDIO], params);
  const inTs = output?.stream?.tracks.filter(({ ts }) => ts !== null).map(({ name }) => name);
  expect(inTs).toEqual(["240p", "audio-64k"]);
});

test.each([
  ["eng", ["en"]],
  ["und", []],
])("gives players the language of audio without a list: %s", (language, expected) => {
  const { output } = plan([video(1280, 720), { ...AUDIO, tags: { language } }], HLS);
  const known = output?.stream?.tracks.flatMap((track) => track.language ?? []) ?? [];
  expect([...new Set(known)]).toEqual(expected);
});

test("keeps mono in the ladder with half of the bits, and keeps the level of requested stereo", () => {
  const mono = { ...AUDIO, channels: 1, channel_layout: "mono" };
  expect(choices([video(426, 240), mono], HLS)).toEqual(["240p=426x240+audio-64k", "audio-32k"]);
  expect(plan([video(426, 240), mono], HLS).argv.join(" ")).not.toMatch(/aformat|pan=/);
  const { argv } = plan([video(426, 240), mono], { ...HLS, variants: ["mp4:240p:stereo"] });
  expect(argv).toContain(filledFromZero("pan=stereo|FL=FC+FL|FR=FC+FR,"));
});

test("keeps the color space of HDR in variants of 10 bits, and maps other variants", () => {
  const hdr = { color_primaries: "bt2020", color_transfer: "arib-std-b67", color_space: "bt2020nc" };
  const source = video(1280, 720, { codec_name: "hevc", pix_fmt: "yuv420p10le", ...hdr });
  const deep = ["mp4:hevc_720p::pix_fmt=yuv420p10le", "mp4:av1_720p::pix_fmt=yuv420p10le"];
  const variants = [...deep, "mp4:hevc_480p", "mp4:480p"];
  const { output } = plan([source], { dash: { path: "d" }, variants });
  expect(output?.stream?.tracks.map(({ video }) => video?.hdr)).toEqual([
    ...Array(2).fill({ matrix: "bt2020nc", primaries: "bt2020", transfer: "arib-std-b67" }),
    null,
    null,
  ]);
});
