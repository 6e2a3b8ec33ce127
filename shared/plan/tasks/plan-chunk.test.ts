import { expect, test } from "vitest";
import { ALLOWED_DECODERS } from "../../media/decoders.ts";
import type { MediaProbe } from "../../media/media-probe.ts";
import type { ChunkSpan } from "../../protocol/chunks.ts";
import { evenly, frameIndexOf, probeOf } from "../../testing/frame-indexes.ts";
import { type OutputOptions, specOf } from "../../testing/output-specs.ts";
import { filledFromZero, withoutFitting } from "../../testing/plan-text.ts";
import { chunkSpans } from "../chunks/choose-split-points.ts";
import { chunkableSource } from "../chunks/chunkable-source.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";
import { planAudio } from "./plan-audio.ts";
import { type ChunkPlan, planChunk } from "./plan-chunk.ts";
import { planJoin } from "./plan-join.ts";

const NTSC = 30000 / 1001;
const MP4: OutputOptions = { format: "mp4:500k" };
const SLOWER: OutputOptions = { format: "mkv:hevc_360p_25fps:mp3:quality=3,maxrate=800k" };
const STREAM: OutputOptions = {
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, segment_duration: 4, variants: ["mp4:360p_300k:96k"] },
};

/** The second of three chunks, from 30 s to 60 s. */
function spanOf(probe: MediaProbe, fps = NTSC): ChunkSpan {
  const source = chunkableSource(frameIndexOf(evenly(fps, 90)), probe);
  const points = [30, 60].flatMap((second) => source.splitPoints.find(({ frameUs }) => frameUs >= second * 1e6) ?? []);
  const span = chunkSpans(source, points)[1];
  if (!span) throw new Error("No such chunk");
  return span;
}

function chunkOf(outputs: OutputOptions[], probe = probeOf("30000/1001"), more: object = {}): ChunkPlan {
  const request = { source: "/in", probe, outputs: outputs.map(specOf), capabilities: ALL_SOFTWARE };
  return planChunk({ ...request, chunk: spanOf(probeOf("30000/1001")), ...more });
}

type Plan = { readonly command: { readonly runs: readonly { readonly argv: readonly string[] }[] } | null };

/** The arguments of the last run, or of another run, from an option on. */
function argvOf({ command }: Plan, from: string, run = -1): string {
  const argv = command?.runs.at(run)?.argv ?? [];
  return withoutFitting(argv.slice(argv.indexOf(from)).join(" "));
}

const PLAIN = "-map_metadata -1 -map_chapters -1 -fflags +bitexact -flags +bitexact";
const FRAGMENTS =
  `${PLAIN} -movflags +frag_keyframe+empty_moov+default_base_moof+frag_discont` +
  " -use_editlist 0 -write_tmcd 0 -flush_packets 1 -output_ts_offset 10 -avoid_negative_ts disabled -f mp4";

test("plans a chunk as the normal command with a preroll, trimmed to its frames, in two passes for a mean", () => {
  const plan = chunkOf([SLOWER, MP4, STREAM]);
  const grid =
    "-force_key_frames expr:isnan(prev_forced_t)+gt(floor((t+30.03+0.0005)/2),floor((prev_forced_t+30.03+0.0005)/2)) -g 9999";
  // The longest distance of keyframes is 50 frames, and there is a margin of one second.
  const opened =
    "-copyts -start_at_zero -noaccurate_seek -ss 27.344984 -reinit_filter:v 0 -max_pixels:v 40000000 -i file:/in";
  const fit = "scale=640:360:flags=bicubic,format=yuv420p,setsar=1";
  const graph = ` -filter_complex [0:0]trim=start=30.021659:end=60.018291,${fit}`;
  const file = " -map [v1] -c:v libx264 -preset medium -b:v 500k -maxrate 750k -bufsize 1000k -g 150";
  const rung = ` -map [v2t0] -c:v libx264 -preset medium -b:v 300k -maxrate 450k -bufsize 600k ${grid} -keyint_min 1 -sc_threshold 0`;
  const pass = (number: number, log: string): string =>
    ` -x264-params vbv-init=0.6:stitchable=1 -pass ${number} -passlogfile ${log} -fps_mode vfr`;
  expect(plan.command?.runs).toHaveLength(2);
  expect(argvOf(plan, "-copyts", 0)).toBe(
    [
      ...[opened, `${graph}[v1]`, `${graph}[v2t0]`],
      ...[file, pass(1, "1-pass"), " -f null -", rung, pass(1, "2-0-pass"), " -f null -"],
    ].join(""),
  );
  expect(argvOf(plan, "-copyts", 1)).toBe(
    [
      ...[opened, `${graph}[v1]`, `${graph}[v2t0]`],
      ` -filter_complex [0:0]fps=25,trim=start_pts=750:end_pts=1500,${fit}[v0]`,
      ...[file, pass(2, "1-pass"), ` -write_btrt 0 ${FRAGMENTS} 1-video.mp4`],
      ...[rung, pass(2, "2-0-pass"), ` -write_btrt 0 ${FRAGMENTS} 2-360p.mp4`],
      " -map [v0] -c:v libx265 -preset fast -crf 26 -maxrate 800k -bufsize 1600k -g 125",
      ` -x265-params log-level=error:vbv-init=0.6:info=0 -fps_mode vfr -write_btrt 0 ${FRAGMENTS} 0-video.mp4`,
    ].join(""),
  );
  expect(plan.command?.tracks).toEqual([
    track(0, "video", 750, 30_000_000, 30, "libx265"),
    track(1, "video", 899, 30_030_000, 30.03, "libx264"),
    track(2, "360p", 899, 30_030_000, 30.03, "libx264"),
  ]);
  expect(plan.command?.runs.map(({ expectedFrames }) => expectedFrames)).toEqual([899, 899]);
});

const track = (output: number, name: string, frames: number, firstUs: number, sinceStart: number, encoder: string) => ({
  output,
  track: name,
  file: `${output}-${name}.mp4`,
  frames,
  firstUs,
  sinceStart,
  encoder,
  inHardware: false,
});

test("uses mean bitrates of the chunk, and peaks of the video", () => {
  const probe = probeOf("30000/1001");
  const plan = chunkOf([MP4], probe, { chunk: { ...spanOf(probe), share: 1.4 } });
  expect(argvOf(plan, "-b:v")).toMatch(/^-b:v 700k -maxrate 750k -bufsize 1000k /);
  const dear = chunkOf([MP4], probe, { chunk: { ...spanOf(probe), share: 1.7 } });
  expect(argvOf(dear, "-b:v")).toMatch(/^-b:v 750k -maxrate 750k /);
});

test("starts the first chunk with the source, and filters see neighboring frames", () => {
  const probe = probeOf("30000/1001");
  const chunk = { ...spanOf(probe), from: null };
  const plan = chunkOf([{ format: "avi:h264", params: { deinterlace: true } }], probe, { chunk });
  expect(argvOf(plan, "-copyts")).toMatch(
    /^-copyts -start_at_zero -reinit.*\[0:0\]scale=640:360,bwdif=mode=send_frame:deint=interlaced,fps=30000\/1001:start_time=0,trim=end_pts=1799,/,
  );
  expect(argvOf(plan, "-copyts")).not.toContain("vbv-init");
});

test("accepts options for a source that the node serves, and a longer preroll", () => {
  const loopbackOptions = ["-protocol_whitelist", "http,tcp"];
  const more = { source: "http://127.0.0.1:1/a", loopbackOptions, prerollMs: 20_000 };
  expect(argvOf(chunkOf([MP4], undefined, more), "-protocol_whitelist")).toMatch(
    /^-protocol_whitelist http,tcp -copyts -start_at_zero -noaccurate_seek -ss 10\.013317 .* -i http:\/\/127\.0\.0\.1:1\/a /,
  );
});

test("uses the timeline of video and audio in MPEG-TS for runs over only video or only audio", () => {
  const starts = ["1.460000", "1.440000"];
  const { streams, format } = probeOf("25/1", { format_name: "mpegts", start_time: "1.400000" });
  const probe = { format, streams: streams.map((stream, at) => ({ ...stream, start_time: starts[at] })) };
  const chunk = spanOf(probeOf("25/1"), 25);
  expect(argvOf(chunkOf([MP4], probe, { chunk }), "-copyts")).toMatch(
    /^-copyts -itsoffset -1\.440001 -noaccurate_seek -ss 20\.02 /,
  );
  const audio = planAudio({ source: "/in", probe, outputs: [specOf(MP4, 0)], capabilities: ALL_SOFTWARE });
  expect(argvOf(audio, "-copyts")).toMatch(/^-copyts -itsoffset -1\.440001 /);
});

test("encodes audio without chunks, in a file of the output's kind, together with the source's tags", () => {
  const request = { source: "/in", probe: probeOf("25/1"), capabilities: ALL_SOFTWARE };
  const plan = planAudio({ ...request, outputs: [MP4, SLOWER, STREAM].map(specOf) });
  expect(argvOf(plan, "-map")).toBe(
    [
      "-map 0:1 -c:a aac -b:a 128k -map_chapters -1 -movflags +faststart -write_tmcd 0 -movie_timescale 48000 -f mp4 0-audio.mp4",
      " -map_chapters -1 -f ffmetadata 0-tags.txt",
      " -map 0:1 -c:a libmp3lame -b:a 128k -avoid_negative_ts disabled -map_chapters -1 -metadata major_brand= -metadata minor_version=",
      " -metadata compatible_brands= -f matroska 1-audio.mkv -map_chapters -1 -f ffmetadata 1-tags.txt",
      ` -map 0:1 -c:a aac -af ${filledFromZero()} -b:a 96k`,
      ` ${FRAGMENTS.replace("-avoid_negative_ts disabled", "-avoid_negative_ts disabled -frag_duration 500000")} 2-audio-96k.mp4`,
    ].join(""),
  );
  expect(plan.command?.tracks.map(({ file }) => file)).toEqual(["0-audio.mp4", "1-audio.mkv", "2-audio-96k.mp4"]);
  expect(plan.command?.files.map(({ file }) => file)).toEqual(["0-tags.txt", "1-tags.txt"]);
  const silent = planAudio({ ...request, outputs: [specOf({ format: "mp4::x:metadata=0" }, 0)] });
  expect(silent.command).toBeNull();
});

test("joins tracks and tags into a file, and tracks of a stream into segments of MPEG-TS", () => {
  const { runs, outputs } = planJoin({
    probe: probeOf("25/1"),
    capabilities: ALL_SOFTWARE,
    outputs: [SLOWER, STREAM].map(specOf),
  });
  const limits = (demuxers: string) => ` -protocol_whitelist file -format_whitelist ${demuxers}`;
  const media = `${limits("MEDIA")} -codec_whitelist ALLOWED`;
  const texts = runs.map(({ argv }) =>
    argv
      .join(" ")
      .replaceAll(/mov,mp4\S*_pipe/g, "MEDIA")
      .replaceAll(ALLOWED_DECODERS, "ALLOWED"),
  );
  const segments = (name: string): string =>
    `-hls_time 4 -hls_playlist_type event -hls_flags temp_file -hls_segment_type mpegts -hls_segment_filename ${name}-%05d.ts` +
    ` -hls_segment_options mpegts_copyts=1 -max_delay 700000 -output_ts_offset 10 -avoid_negative_ts disabled -f hls ${name}.m3u8`;
  const head = "-copyts -y -nostdin -hide_banner -v error -nostats -progress pipe:1 -stats_period 0.5";
  const open = (file: string): string => ` -max_pixels:v 40000000 -i file:${file}`;
  expect(texts).toEqual([
    [
      `${head}${media} -itsoffset -10${open("0-video.mp4")}${media}${open("0-audio.mkv")}`,
      `${limits("ffmetadata")} -f ffmetadata -codec_whitelist none${open("0-tags.txt")} -map 0:v:0 -map 1:a:0 -c copy`,
      " -map_metadata 2 -map_metadata:s:v -1 -map_metadata:s:a:0 1:s:a:0 -map_chapters -1",
      " -metadata major_brand= -metadata minor_version= -metadata compatible_brands= -f matroska 0.mkv",
    ].join(""),
    [
      `${head}${media} -itsoffset -10${open("1-360p.mp4")}${media} -itsoffset -10${open("1-audio-96k.mp4")}`,
      ` -map 0:0 -c copy ${PLAIN} ${segments("1-360p")} -map 1:0 -c copy ${PLAIN} ${segments("1-audio-96k")}`,
    ].join(""),
  ]);
  expect(outputs.map(({ files, stream }) => [files, stream?.tracks.map(({ fmp4 }) => fmp4)])).toEqual([
    [["0.mkv"], undefined],
    [[], ["1-360p.mp4", "1-audio-96k.mp4"]],
  ]);
});

test("joins a clip with its own chapters, and audio that is read shortly before the clip", () => {
  const chapters = [0, 30, 60].map((second) => ({
    startMs: 1000 * second,
    endMs: 1000 * (second + 30),
    title: `${second};`,
  }));
  const probe = { ...probeOf("25/1"), chapters };
  const clip = { startMs: 40_000, endMs: 120_000 };
  const request = { probe, capabilities: ALL_SOFTWARE, outputs: [specOf({ format: "mkv", clip }, 0)] };
  const [run] = planJoin(request).runs;
  expect(run?.argv.join(" ")).toMatch(/file:0-tags.txt .*file:0-chapters.txt -map 0:v:0 .* -map_chapters 3 /);
  const sections = ["START=0\nEND=20001\ntitle=30\\;", "START=20001\nEND=50001\ntitle=60\\;"];
  const head = "[CHAPTER]\nTIMEBASE=1/1000\n";
  expect(run?.texts).toEqual([
    { file: "0-chapters.txt", text: `;FFMETADATA1\n${sections.map((section) => `${head}${section}\n`).join("")}` },
  ]);
  const audio = argvOf(planAudio({ ...request, source: "/in" }), "-ss");
  expect(audio).toMatch(/^-ss 30 .* -ss 9.999 -t 80 .*-f matroska 0-audio.mkv .*0-tags.txt$/);
});

test("joins the growing videos of streams from pipes with the same result", () => {
  const request = { probe: probeOf("25/1"), capabilities: ALL_SOFTWARE, outputs: [SLOWER, STREAM].map(specOf) };
  const argvs = (isGrowing: boolean) => planJoin({ ...request, isGrowing }).runs.map(({ argv }) => argv.join(" "));
  const piped = (argv: string): string => argv.replace("file:1-360p.mp4", "file:1-360p.pipe");
  expect(argvs(true)).toEqual(argvs(false).map(piped));
  expect(argvs(true)[1]).toContain("file:1-360p.pipe");
});

test("marks a run as hardware if any of its encoders is hardware", () => {
  const hardware = { name: "nvenc", path: null, encoders: ["h264_nvenc"] } as const;
  const capabilities = { ...ALL_SOFTWARE, hardware };
  const runsOf = (options: OutputOptions) => chunkOf([options], undefined, { capabilities }).command?.runs;
  for (const options of [MP4, STREAM]) {
    expect(runsOf(options)?.map(({ inHardware, argv }) => [inHardware, argv.includes("h264_nvenc")])).toEqual([
      [true, true],
    ]);
  }
  expect(runsOf(SLOWER)?.map(({ inHardware }) => inHardware)).toEqual([false]);
});
