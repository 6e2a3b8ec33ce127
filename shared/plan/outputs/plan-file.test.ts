import { describe, expect, test } from "vitest";
import type { MediaProbe, ProbedStream } from "../../media/media-probe.ts";
import type { OutputOptions } from "../../testing/output-specs.ts";
import { filledFromZero, withoutFitting } from "../../testing/plan-text.ts";
import { audioStream, BT709, planOf, probed, videoStream } from "../../testing/probes.ts";
import type { FfmpegCapabilities } from "../command/capabilities.ts";
import { ALL_SOFTWARE } from "../encoders/software-encoders.ts";

const VIDEO = videoStream(1280, 720, "25/1", BT709);
const STEREO = audioStream();

const probeOf = (...streams: Omit<ProbedStream, "index">[]) => probed(streams);

const plan = (output: OutputOptions, probe = probeOf(VIDEO, STEREO), capabilities: FfmpegCapabilities = ALL_SOFTWARE) =>
  planOf(probe, [output], { capabilities });

/** The arguments of each run after its input. */
function commandsOf(output: OutputOptions, probe?: MediaProbe, capabilities?: FfmpegCapabilities): string[] {
  const { commands, failures } = plan(output, probe, capabilities);
  expect(failures).toEqual([]);
  return commands
    .flatMap(({ runs }) => runs)
    .map(({ argv }) => withoutFitting(argv.slice(argv.indexOf("file:/in") + 1).join(" ")));
}

const filtered = (filters: string, pixelFormat: string): string =>
  `-filter_complex [0:0]${filters},format=${pixelFormat},setsar=1[v0] -map [v0]`;
const SCALE = "scale=1280:720:flags=bicubic";
const PLAIN = filtered(SCALE, "yuv420p");
const withRate = (fps: string): string => filtered(`${fps},${SCALE}`, "yuv420p");
const VPX = "-c:v libvpx -threads 1 -deadline good -cpu-used 2 -auto-alt-ref 1 -lag-in-frames 16";
const VFR = "-fps_mode vfr";
const AAC = "-c:a aac -b:a 128k";
const TAGS = "-map_chapters -1 -metadata major_brand= -metadata minor_version= -metadata compatible_brands=";
const iso = (muxer: string): string =>
  `-map_chapters -1 -movflags +faststart -write_tmcd 0 -movie_timescale 48000 -f ${muxer} 0.${muxer === "ipod" ? "m4a" : muxer}`;

/** Every codec, container and option, for a source of 720p at 25 frames per second with stereo. */
const ROWS: Record<string, string | string[]> = {
  "mp4:hevc::quality=2,maxrate=900k": `${PLAIN} -map 0:1 -c:v libx265 -preset fast -crf 30 -maxrate 900k -bufsize 1800k -g 125 -x265-params log-level=error -tag:v hvc1 ${VFR} ${AAC} ${iso("mp4")}`,
  "mkv:h264::quality=3": `${PLAIN} -map 0:1 -c:v libx264 -preset medium -crf 24 -g 125 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "webm:vp9_400k::2pass": [
    `${PLAIN} -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -b:v 400k -maxrate 600k -bufsize 800k -g 125 -pass 1 -passlogfile 0-pass ${VFR} -f null -`,
    `${PLAIN} -map 0:1 -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -b:v 400k -maxrate 600k -bufsize 800k -g 125 -pass 2 -passlogfile 0-pass ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  ],
  ogg: `-map 0:1 -c:a libvorbis -b:a 128k ${TAGS} -f ogg 0.ogg`,
  "m4a:ac3": `-map 0:1 -c:a ac3 -b:a 128k ${iso("ipod")}`,
  opus: `-map 0:1 -c:a libopus -b:a 128k ${TAGS} -f opus 0.opus`,
  flac: `-map 0:1 -c:a flac -af aresample=async=1:min_hard_comp=0.015 ${TAGS} -f flac 0.flac`,
  "mov:prores": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuv422p10le")} -map 0:1 -c:v prores -profile:v 2 -vendor apl0 ${VFR} ${AAC} ${iso("mov")}`,
  "mkv:wmv2::quality=1": `${withRate("fps=25")} -map 0:1 -c:v wmv2 -q:v 16 -g 125 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "mkv:flv::quality=1": `${withRate("fps=25")} -map 0:1 -c:v flv -q:v 16 -g 125 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "mkv:vp8::quality=2": `${PLAIN} -map 0:1 ${VPX} -crf 52 -b:v 100M -g 125 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "mkv:vp8::quality=2,maxrate=700k": `${PLAIN} -map 0:1 ${VPX} -crf 52 -b:v 700k -maxrate 700k -bufsize 1400k -g 125 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  mp4: `${PLAIN} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 125 ${VFR} ${AAC} ${iso("mp4")}`,
  "mp4:hevc": `${PLAIN} -map 0:1 -c:v libx265 -preset fast -crf 23 -maxrate 1950k -bufsize 3900k -g 125 -x265-params log-level=error -tag:v hvc1 ${VFR} ${AAC} ${iso("mp4")}`,
  "mp4:hevc_10000k::level=40,2pass": [
    `${PLAIN} -c:v libx265 -preset fast -b:v 10000k -maxrate 15000k -bufsize 20000k -g 125 -x265-params log-level=error:level-idc=4.0:pass=1:stats=0-pass.log -tag:v hvc1 ${VFR} -f null -`,
    `${PLAIN} -map 0:1 -c:v libx265 -preset fast -b:v 10000k -maxrate 15000k -bufsize 20000k -g 125 -x265-params log-level=error:level-idc=4.0:pass=2:stats=0-pass.log -tag:v hvc1 ${VFR} ${AAC} ${iso("mp4")}`,
  ],
  webm: `${PLAIN} -map 0:1 ${VPX} -b:v 2400k -maxrate 3600k -bufsize 4800k -g 125 ${VFR} -c:a libvorbis -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  "webm:vp9::quality=4": `${PLAIN} -map 0:1 -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -crf 32 -b:v 0 -g 125 ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  "webm:vp9_1920x::maxrate=2000k": `${filtered("scale=1920:1080:flags=bicubic", "yuv420p")} -map 0:1 -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -tile-columns 2 -crf 32 -b:v 2000k -maxrate 2000k -bufsize 4000k -g 125 ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  "webm:av1": `${PLAIN} -map 0:1 -c:v libsvtav1 -preset 8 -crf 31 -maxrate 1800k -bufsize 3600k -g 125 ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  "webm:av1::2pass": [
    `${PLAIN} -c:v libaom-av1 -cpu-used 6 -row-mt 1 -b:v 1200k -maxrate 1800k -bufsize 2400k -g 125 -pass 1 -passlogfile 0-pass ${VFR} -f null -`,
    `${PLAIN} -map 0:1 -c:v libaom-av1 -cpu-used 6 -row-mt 1 -b:v 1200k -maxrate 1800k -bufsize 2400k -g 125 -pass 2 -passlogfile 0-pass ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  ],
  "webm:av1::quality=3,maxrate=900k": `${PLAIN} -map 0:1 -c:v libsvtav1 -preset 8 -crf 36 -maxrate 900k -bufsize 1800k -g 125 ${VFR} -c:a libopus -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  ogv: `${withRate("fps=25:start_time=0")} -map 0:1 -c:v libtheora -b:v 2750k -g 125 ${VFR} -c:a libvorbis -af ${filledFromZero()} -b:a 128k ${TAGS} -f ogv 0.ogv`,
  "ogv:::quality=5": `${withRate("fps=25:start_time=0")} -map 0:1 -c:v libtheora -q:v 8 -g 125 ${VFR} -c:a libvorbis -af ${filledFromZero()} -b:a 128k ${TAGS} -f ogv 0.ogv`,
  avi: `${withRate("fps=25:start_time=0")} -map 0:1 -c:v mpeg4 -b:v 3100k -maxrate 4650k -bufsize 6200k -g 125 -tag:v XVID ${VFR} -c:a libmp3lame -af ${filledFromZero()} -b:a 128k ${TAGS} -f avi 0.avi`,
  "avi:::quality=4": `${withRate("fps=25:start_time=0")} -map 0:1 -c:v mpeg4 -q:v 5 -g 125 -tag:v XVID ${VFR} -c:a libmp3lame -af ${filledFromZero()} -b:a 128k ${TAGS} -f avi 0.avi`,
  "avi:::quality=4,maxrate=1500k": `${withRate("fps=25:start_time=0")} -map 0:1 -c:v mpeg4 -qmin 5 -b:v 1500k -maxrate 1500k -bufsize 3000k -g 125 -tag:v XVID ${VFR} -c:a libmp3lame -af ${filledFromZero()} -b:a 128k ${TAGS} -f avi 0.avi`,
  "avi:h264": `${withRate("fps=25:start_time=0")} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 125 -bf 0 ${VFR} -c:a libmp3lame -af ${filledFromZero()} -b:a 128k ${TAGS} -f avi 0.avi`,
  "mpegts:mpeg2video:mp2": `${withRate("fps=25")} -map 0:1 -c:v mpeg2video -b:v 3650k -maxrate 5475k -bufsize 7300k -g 13 -bf 2 ${VFR} -c:a mp2 -b:a 128k ${TAGS} -f mpegts 0.ts`,
  "mkv:mpeg2video_1920x::quality=3": `${filtered("fps=25,scale=1920:1080:flags=bicubic", "yuv420p")} -map 0:1 -c:v mpeg2video -q:v 6 -g 13 -bf 2 ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "mkv:mjpeg::pix_fmt=yuv422p": `-filter_complex [0:0]fps=25,scale=1280:720:flags=bicubic,format=gbrp,setsar=1,scale=out_color_matrix=bt601:out_range=pc,format=yuvj422p[v0] -map [v0] -map 0:1 -c:v mjpeg -b:v 7350k -maxrate 11025k -bufsize 14700k ${VFR} ${AAC} ${TAGS} -f matroska 0.mkv`,
  "mov:prores::quality=4": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuv422p10le")} -map 0:1 -c:v prores -profile:v 3 -vendor apl0 ${VFR} ${AAC} ${iso("mov")}`,
  "mov:prores-ks::pix_fmt=yuva444p10le": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuva444p10le")} -map 0:1 -c:v prores_ks -profile:v 4 -vendor apl0 ${VFR} ${AAC} ${iso("mov")}`,
  "mov:dnxhd": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuv422p")} -map 0:1 -c:v dnxhd -b:v 60M ${VFR} ${AAC} ${iso("mov")}`,
  "mov:dnxhd_100000k": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuv422p")} -map 0:1 -c:v dnxhd -b:v 90M ${VFR} ${AAC} ${iso("mov")}`,
  "mov:dnxhd_640x": `${filtered("fps=25,scale=640:360:flags=bicubic", "yuv422p")} -map 0:1 -c:v dnxhd -profile:v dnxhr_sq ${VFR} ${AAC} ${iso("mov")}`,
  "mov:dnxhd::quality=5": `${filtered("fps=25,scale=1280:720:flags=bicubic", "yuv422p10le")} -map 0:1 -c:v dnxhd -profile:v dnxhr_hqx ${VFR} ${AAC} ${iso("mov")}`,
  flv: `${withRate("fps=25")} -map 0:1 -c:v flv -b:v 3500k -maxrate 5250k -bufsize 7000k -g 125 ${VFR} -c:a libmp3lame -b:a 128k ${TAGS} -flvflags add_keyframe_index -f flv 0.flv`,
  "flv:h264": `${withRate("fps=25")} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 125 ${VFR} -c:a libmp3lame -b:a 128k ${TAGS} -flvflags add_keyframe_index -f flv 0.flv`,
  "3gp": `-filter_complex [0:0]fps=25,scale=352:198:flags=bicubic,format=yuv420p,pad=352:288:0:44,setsar=1[v0] -map [v0] -map 0:1 -c:v h263 -b:v 1900k -maxrate 2850k -bufsize 3800k -g 125 ${VFR} -c:a aac -b:a 32k ${iso("3gp")}`,
  "3gp:h263_1280x:amr-nb": `-filter_complex [0:0]fps=25,scale=1408:792:flags=bicubic,format=yuv420p,pad=1408:1152:0:180,setsar=1[v0] -map [v0] -map 0:1 -c:v h263 -b:v 4000k -maxrate 6000k -bufsize 8000k -g 125 ${VFR} -c:a libopencore_amrnb -af aformat=sample_fmts=fltp,aformat=channel_layouts=mono,alimiter=limit=0.944:level=0 -b:a 12.2k -ar 8000 ${iso("3gp")}`,
  asf: `${withRate("fps=25")} -map 0:1 -c:v wmv2 -b:v 3650k -maxrate 5475k -bufsize 7300k -g 125 ${VFR} -c:a wmav2 -b:a 128k ${TAGS} -f asf 0.asf`,
  "mp4:::frag": `${PLAIN} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 125 ${VFR} ${AAC} -map_chapters -1 -movflags +frag_keyframe+empty_moov+default_base_moof+delay_moov -write_tmcd 0 -movie_timescale 48000 -f mp4 0.mp4`,
  "mp4:x:flac": `-map 0:1 -c:a flac -strict experimental ${iso("mp4")}`,
  "mp4:x:aac:frag": `-map 0:1 ${AAC} -map_chapters -1 -movflags +empty_moov+default_base_moof+delay_moov -frag_duration 2000000 -write_tmcd 0 -movie_timescale 48000 -f mp4 0.mp4`,
  "mkv:::metadata=0": `${PLAIN} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 125 ${VFR} ${AAC} -map_chapters -1 -map_metadata -1 -map_metadata:s -1 -fflags +bitexact -flags +bitexact -f matroska 0.mkv`,
  "mp4:::vprofile=high10,level=41,pix_fmt=yuv420p10le,maxrate=9000k,quality=2": `${filtered("scale=1280:720:flags=bicubic", "yuv420p10le")} -map 0:1 -c:v libx264 -preset medium -crf 28 -maxrate 9000k -bufsize 18000k -g 125 -profile:v high10 -level 4.1 ${VFR} ${AAC} ${iso("mp4")}`,
  "webm:::2pass": [
    `${PLAIN} ${VPX} -b:v 2400k -maxrate 3600k -bufsize 4800k -g 125 -pass 1 -passlogfile 0-pass ${VFR} -f null -`,
    `${PLAIN} -map 0:1 ${VPX} -b:v 2400k -maxrate 3600k -bufsize 4800k -g 125 -pass 2 -passlogfile 0-pass ${VFR} -c:a libvorbis -b:a 128k ${TAGS} -cues_to_front 1 -f webm 0.webm`,
  ],
  wav: `-map 0:1 -c:a pcm_s16le -af aresample=async=1:min_hard_comp=0.015 ${TAGS} -f wav 0.wav`,
  "ogg:opus_64k": `-map 0:1 -c:a libopus -b:a 64k ${TAGS} -f ogg 0.ogg`,
  mp3: `-map 0:1 -c:a libmp3lame -af aresample=async=1:min_hard_comp=0.015 -b:a 128k ${TAGS} -id3v2_version 3 -f mp3 0.mp3`,
  aac: `-map 0:1 -c:a aac -af aresample=async=1:min_hard_comp=0.015 -b:a 128k ${TAGS} -f adts 0.aac`,
  "mp4:copy:copy": `-map 0:0 -map 0:1 -c:v copy -c:a copy ${iso("mp4")}`,
  "mkv:copy:ac3": `-map 0:0 -map 0:1 -c:v copy -c:a ac3 -b:a 128k ${TAGS} -f matroska 0.mkv`,
  "mp4:15fps": `${withRate("fps=15")} -map 0:1 -c:v libx264 -preset medium -crf 21 -maxrate 2775k -bufsize 5550k -g 75 ${VFR} ${AAC} ${iso("mp4")}`,
};

test.each(Object.entries(ROWS))("%s", (format, runs) => {
  expect(commandsOf({ format })).toEqual([runs].flat());
});

/** The value of an option. */
const option = (command: string | undefined, name: string): string | undefined =>
  new RegExp(` ${name} (\\S+)`).exec(command ?? "")?.[1];

test.each([
  // A variable rate stays variable if codec and container support it.
  ["mp4:hevc", "1000/1", "24900/1000", undefined, "log-level=error:fps=24.9"],
  ["webm:av1", "1000/1", "24900/1000", undefined, "fps-num=24900:fps-denom=1000"],
  ["webm:vp9", "1000/1", "24900/1000", undefined, undefined],
  ["mkv:mpeg4", "1000/1", "24900/1000", "fps=25", undefined],
  ["avi:h264", "0/0", "0/0", "fps=30:start_time=0", undefined],
  ["flv:h264", "60/1", "2997/100", "fps=30000/1001", undefined],
  // The rates of MPEG-2, MPEG-4 and H.263.
  ["mkv:mpeg2video", "10/1", "10/1", "fps=30", undefined],
  ["mkv:mpeg2video", "120/1", "120/1", "fps=60", undefined],
  ["mkv:mpeg4", "120000/1001", "120000/1001", "fps=60000/1001", undefined],
  ["mkv:mpeg4", "8/1", "8/1", "fps=8", undefined],
  ["mkv:wmv2", "15000/1001", "15000/1001", "fps=15000/1001", undefined],
  ["mov:h263", "60000/1001", "60000/1001", "fps=30000/1001", undefined],
  ["mov:h263", "50/1", "50/1", "fps=25", undefined],
])("%s of a source of %s, on average %s frames per second", (format, r_frame_rate, avg_frame_rate, filter, params) => {
  const [command] = commandsOf({ format }, probeOf({ ...VIDEO, r_frame_rate, avg_frame_rate }));
  expect(/\](fps=[^,]+),/.exec(command ?? "")?.[1]).toBe(filter);
  expect(option(command, "-(?:x265|svtav1)-params")).toBe(
    params ?? (format === "mp4:hevc" ? "log-level=error" : undefined),
  );
  expect(option(command, "-enc_time_base:v")).toBe(filter === undefined ? "1/90000" : undefined);
});

const MIX = "aformat=sample_fmts=fltp,";
const LIMIT = ",alimiter=limit=0.944:level=0";
test.each<[format: string, layout: string | undefined, channels: number, filters: string | undefined]>([
  ["mp4", "stereo", 2, undefined],
  ["mp4:::", undefined, 2, "aformat=channel_layouts=stereo"],
  ["mp4::mono", "stereo", 2, `${MIX}aformat=channel_layouts=mono${LIMIT}`],
  ["mp4::stereo", "mono", 1, "pan=stereo|FL=FC+FL|FR=FC+FR"],
  ["mp4::stereo", "5.1(side)", 6, `${MIX}aformat=channel_layouts=stereo${LIMIT}`],
  ["mp4", "5.1(side)", 6, "aformat=channel_layouts=5.1"],
  ["mp4::multi", "7.1", 8, undefined],
  ["mp4::multi", "quad", 4, "aformat=channel_layouts=5.0"],
  ["mp4::ac3_multi", "7.1", 8, `${MIX}aformat=channel_layouts=5.1(side)${LIMIT}`],
  ["mkv::opus", "5.1(side)", 6, "aformat=channel_layouts=5.1"],
  ["mkv::opus", "4.0", 4, "aformat=channel_layouts=6.1"],
  ["mp4::mp3_stereo", "3.0", 3, `${MIX}aformat=channel_layouts=stereo${LIMIT}`],
  ["mp4", undefined, 10, `pan=stereo|c0<c0+c2+c4+c6+c8|c1<c1+c3+c5+c7+c9${LIMIT}`],
  ["mp4::mono", undefined, 9, `pan=mono|c0<c0+c1+c2+c3+c4+c5+c6+c7+c8${LIMIT}`],
  ["mp4", "10 channels", 10, `pan=stereo|c0<c0+c2+c4+c6+c8|c1<c1+c3+c5+c7+c9${LIMIT}`],
  ["mp4", "7.1.4", 12, `${MIX}aformat=channel_layouts=stereo${LIMIT}`],
  ["mp4", "hexagonal", 6, "aformat=channel_layouts=5.1"],
  ["mp4", "ambisonic 1", 4, `pan=stereo|c0=0.7*c0+0.7*c1|c1=0.7*c0-0.7*c1${LIMIT}`],
  ["mp4::mono", "ambisonic 1", 4, `pan=mono|c0=c0${LIMIT}`],
  ["mp4::multi", "ambisonic 1+stereo", 6, `pan=stereo|c0=0.7*c0+0.7*c1+c4|c1=0.7*c0-0.7*c1+c5${LIMIT}`],
  ["mp4::mono", "ambisonic 1+stereo", 6, `pan=mono|c0=c0+0.5*c4+0.5*c5${LIMIT}`],
  ["mp4", "5 channels (FL+FR+LFE+FC+BL)", 5, `pan=stereo|c0<c0+c3+c4|c1<c1+c3${LIMIT}`],
  ["mp4::mono", "2 channels (BL+BR)", 2, `pan=mono|c0<c0+c1${LIMIT}`],
  ["mp4::stereo", "1 channels (FL)", 1, `pan=stereo|c0<c0|c1<c0${LIMIT}`],
  ["mp4", "4 channels (FL+FR+TFL+TFR)", 4, "aformat=channel_layouts=4.0"],
  ["flv:::", "5.1", 6, `${MIX}aformat=channel_layouts=stereo${LIMIT}`],
  ["flv::pcm", "5.1", 6, `${MIX}aformat=channel_layouts=stereo${LIMIT}`],
])("%s of %s audio with %i channels is mixed by %s", (format, channel_layout, channels, filters) => {
  const { channel_layout: _, ...audio } = STEREO;
  const layout = channel_layout === undefined ? {} : { channel_layout };
  const [command] = commandsOf({ format }, probeOf(VIDEO, { ...audio, ...layout, channels }));
  expect(option(command, "-af")).toBe(filters);
});

test.each([
  ["avi", "0.021000", "0.121"],
  ["ogv", "1.5", "1.6"],
])("fills the start of late audio in %s with silence, once: from 0 to %s s", (format, start_time, limit) => {
  const { format: header, streams } = probeOf(VIDEO, { ...STEREO, start_time });
  const [command] = commandsOf({ format }, { streams, format: { ...header, start_time: "0.0" } });
  expect(option(command, "-af")).toBe(filledFromZero("", limit));
});

test.each<[format: string, hz: number, channels: number, argv: string]>([
  ["mp4:x:opus", 44_100, 2, "-b:a 128k -ar 48000"],
  ["mp4:x:opus_512k_mono", 48_000, 1, "-b:a 256k"],
  ["mp4:x:mp3_320k", 11_025, 2, "-b:a 160k -ar 16000"],
  ["mp4:x:mp2", 96_000, 2, "-b:a 128k -ar 48000"],
  ["mp4:x:mp2_320k_22050hz", 48_000, 2, "-b:a 160k -ar 22050"],
  ["mp4:x:mp2_384k_mono", 48_000, 1, "-b:a 192k"],
  ["ogg", 8_000, 1, "-b:a 32k"],
  ["ogg:8k", 44_100, 2, "-b:a 48k"],
  ["mov:x:amr-nb_10k", 8_000, 1, "-b:a 10.2k -ar 8000"],
  ["mkv:x:ac3_32k_multi", 48_000, 6, "-b:a 66k"],
  ["flv:x:pcm-u8", 48_000, 2, "-ar 44100"],
  ["mkv:x:flac", 96_000, 2, "-ar 48000"],
])("%s of %i Hz with %i channels: %s", (format, hz, channels, argv) => {
  const layout = ["mono", "stereo", "", "", "", "5.1"][channels - 1] ?? "";
  const audio = { ...STEREO, sample_rate: String(hz), channels, channel_layout: layout };
  const [command = ""] = commandsOf({ format }, probeOf(audio));
  expect(/(?: -b:a \S+)?(?: -ar \S+)?(?= -map_chapters)/.exec(command)?.[0].trim()).toBe(argv);
});

describe("a copy", () => {
  const of = (video: string, audio: string): MediaProbe =>
    probeOf({ ...VIDEO, codec_name: video }, { ...STEREO, codec_name: audio });
  test.each([
    ["mp4:copy:copy", "hevc", "eac3", "-map 0:0 -map 0:1 -c:v copy -tag:v hvc1 -c:a copy"],
    ["mkv:copy:copy", "vc1", "dts", "-map 0:0 -map 0:1 -c:v copy -c:a copy"],
    ["flv:copy:copy", "flv1", "pcm_u8", "-map 0:0 -map 0:1 -c:v copy -c:a copy"],
    ["mp4:x:copy", "vc1", "aac", "-map 0:1 -c:a copy"],
  ])("%s of %s and %s", (format, video, audio, start) => {
    const [command] = commandsOf({ format }, of(video, audio));
    expect(command?.startsWith(`${start} -map_chapters`)).toBe(true);
  });

  test.each([
    ["mp4:copy", "vp8", "aac", "The input's video is vp8, which mp4 cannot hold: it cannot be copied."],
    ["webm:vp9:copy", "vp9", "aac", "The input's audio is aac, which webm cannot hold: it cannot be copied."],
  ])("%s of %s and %s is not possible", (format, video, audio, message) => {
    expect(plan({ format }, of(video, audio)).failures).toEqual([
      { output: 0, failure: { code: "copy_not_possible", message } },
    ]);
  });

  test("rejects a copy from the middle of a source without an index", () => {
    const probe = of("h264", "aac");
    const broadcast = { ...probe, format: { ...probe.format, format_name: "mpegts" } };
    const { failures } = plan({ format: "mkv:copy:copy", params: { offset: 2, duration: 1 } }, broadcast);
    expect(failures).toMatchObject([
      { failure: { code: "copy_not_possible", message: expect.stringMatching(/no index of its keyframes/) } },
    ]);
    expect(plan({ format: "mkv:copy:copy", params: { duration: 1 } }, broadcast).failures).toEqual([]);
  });

  test.each([
    ["mpeg", "mpeg2video", "mkv:copy", ["-fflags +genpts -reinit_filter"]],
    ["mpegvideo", "mpeg1video", "mp4:copy", ["-fflags +genpts -reinit_filter"]],
    ["avi", "h264", "mp4:copy", ["-fflags +genpts -reinit_filter"]],
    [
      "avi",
      "mpeg4",
      "mp4:copy",
      ["-map 0:0 -map 0:1 -c copy -bsf:v mpeg4_unpack_bframes -f avi 0-", "-fflags +genpts"],
    ],
    ["avi", "mpeg4", "avi:copy", ["-reinit_filter"]],
    ["avi", "mpeg4", "mp4", ["-reinit_filter"]],
    ["matroska,webm", "mpeg4", "mp4:copy", ["-reinit_filter"]],
  ])("of %s with reordered %s into %s has a time for each frame", (format_name, codec_name, format, runs) => {
    const { streams, format: header } = probeOf({ ...VIDEO, codec_name, has_b_frames: 1 }, STEREO);
    const { commands } = plan({ format }, { streams, format: { ...header, format_name } });
    const texts = commands.flatMap(({ runs }) => runs.map(({ argv }) => argv.join(" ")));
    expect(texts.map((text, at) => text.includes(runs[at] ?? "?"))).toEqual(runs.map(() => true));
    const isRead = runs.some((run) => run.includes("genpts"));
    expect(texts.at(-1)?.includes("genpts")).toBe(isRead);
  });

  test("rejects a copy of an elementary stream with reordered frames", () => {
    const { streams, format: header } = probeOf({ ...VIDEO, has_b_frames: 2 });
    const probe = { streams, format: { ...header, format_name: "h264" } };
    expect(plan({ format: "mp4:copy" }, probe).failures).toMatchObject([{ failure: { code: "copy_not_possible" } }]);
    const ordered = { ...probe, streams: [{ ...VIDEO, index: 0, has_b_frames: 0 }] };
    expect(plan({ format: "mp4:copy" }, ordered).failures).toEqual([]);
  });

  test("starts a copy at the keyframe before its offset", () => {
    const { commands } = plan({ format: "mp4:copy:copy", params: { offset: 20, duration: 5 } });
    const argv = commands[0]?.runs[0]?.argv.join(" ") ?? "";
    expect([/-ss (\S+) .*-i/.exec(argv)?.[1], option(argv, "-t"), argv.match(/-ss/g)?.length]).toEqual(["20", "5", 1]);
  });
});

test.each([
  ["mp4:::level=30", "Level 3.0 of h264 does not allow 1280x720 pixels at 25 frames per second."],
  ["mp4:hevc_60fps::level=31", "Level 3.1 of hevc does not allow 1280x720 pixels at 60 frames per second."],
  ["mov:dnxhd_240x", "DNxHD needs at least 256x120 pixels, this would be 240x136."],
])("%s fails: %s", (format, message) => {
  expect(plan({ format }).failures).toEqual([{ output: 0, failure: { code: "output_size_not_possible", message } }]);
});

test("fails with the codec's name if an encoder is missing, and uses libaom if only SVT-AV1 is missing", () => {
  const without = (...names: string[]): FfmpegCapabilities => ({
    ...ALL_SOFTWARE,
    encoders: ALL_SOFTWARE.encoders.filter((name) => !names.includes(name)),
  });
  const message = (codec: string): string =>
    `The ffmpeg build of the encoder node has no encoder for \`${codec}\` that works.`;
  const failureOf = (format: string, capabilities: FfmpegCapabilities) =>
    plan({ format }, undefined, capabilities).failures[0]?.failure;
  const code = "encoder_not_available";
  expect(failureOf("webm:av1", without("libsvtav1", "libaom-av1"))).toEqual({ code, message: message("av1") });
  expect(failureOf("webm:av1::2pass", without("libaom-av1"))).toEqual({ code, message: message("av1") });
  expect(failureOf("mp4::opus", without("libopus"))).toEqual({ code, message: message("opus") });
  expect(option(commandsOf({ format: "webm:av1" }, undefined, without("libsvtav1"))[0], "-c:v")).toBe("libaom-av1");
  // SVT-AV1 does not support sides below 64.
  expect(option(commandsOf({ format: "webm:av1_64x" })[0], "-c:v")).toBe("libaom-av1");
});

describe("hardware", () => {
  const on = (name: "nvenc" | "qsv" | "vaapi" | "videotoolbox", path: string | null = null): FfmpegCapabilities => ({
    ...ALL_SOFTWARE,
    hardware: { name, path, encoders: ["h264", "hevc", "av1"].map((codec) => `${codec}_${name}`) },
  });
  const NV12 = PLAIN.replace("format=yuv420p", "format=nv12");
  const end = `${VFR} ${AAC} ${iso("mp4")}`;

  test.each<[string, FfmpegCapabilities, string, head?: string]>([
    [
      "mp4",
      on("nvenc"),
      `${NV12} -map 0:1 -c:v h264_nvenc -preset p5 -tune hq -rc vbr -spatial-aq 1 -cq 24 -b:v 0 -maxrate 2775k -bufsize 5550k -g 125 ${end}`,
    ],
    [
      "mp4:hevc::quality=4,maxrate=900k,vprofile=main",
      on("nvenc"),
      `${NV12} -map 0:1 -c:v hevc_nvenc -preset p5 -tune hq -rc vbr -spatial-aq 1 -cq 26 -b:v 0 -maxrate 900k -bufsize 1800k -g 125 -profile:v main -tag:v hvc1 ${end}`,
    ],
    [
      "mp4:av1::quality=3",
      on("qsv", "/dev/dri/renderD128"),
      `${NV12} -map 0:1 -c:v av1_qsv -preset medium -global_quality 35 -g 125 ${end}`,
      "-init_hw_device qsv=hw,child_device=/dev/dri/renderD128",
    ],
    [
      "mp4:::quality=1",
      on("vaapi", "/dev/dri/renderD129"),
      `${NV12.replace("[v0] -map", ",hwupload[v0] -map")} -map 0:1 -c:v h264_vaapi -rc_mode CQP -qp 35 -g 125 ${end}`,
      "-init_hw_device vaapi=hw:/dev/dri/renderD129 -filter_hw_device hw",
    ],
    [
      "mp4:::quality=5,maxrate=1000k",
      on("videotoolbox"),
      `${NV12} -map 0:1 -c:v h264_videotoolbox -b:v 1000k -maxrate 1000k -bufsize 2000k -g 125 ${end}`,
    ],
  ])("encodes %s", (format, capabilities, expected, head = "") => {
    const { commands } = plan({ format }, undefined, capabilities);
    const argv = withoutFitting(commands[0]?.runs[0]?.argv.join(" ") ?? "");
    expect(argv.slice(argv.indexOf("file:/in") + 9)).toBe(expected);
    expect(argv.startsWith(head)).toBe(true);
    expect(commands[0]?.runs).toMatchObject([{ inHardware: true }]);
    expect(commands[0]?.outputs).toMatchObject([{ inHardware: true, encoder: option(argv, "-c:v") }]);
  });

  test.each([
    ["10 bits", "mp4:hevc::pix_fmt=yuv420p10le"],
    ["two passes", "mp4:h264::2pass"],
    ["a level", "mp4:::level=41"],
    ["another profile", "mp4:::vprofile=baseline"],
    ["a frame below the minimum", "mp4:h264_128x"],
    ["avi", "avi:h264"],
    ["another codec", "webm"],
  ])("is not used for %s", (_, format) => {
    const { commands } = plan({ format }, undefined, on("nvenc"));
    expect(commands[0]?.outputs[0]?.encoder).toMatch(/^lib/);
    expect(commands[0]?.outputs[0]).not.toHaveProperty("inHardware");
    for (const run of commands[0]?.runs ?? []) expect(run.inHardware).toBe(false);
  });
});
