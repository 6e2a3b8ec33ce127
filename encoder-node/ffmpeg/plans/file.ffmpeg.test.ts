// Options of video and audio outputs in real runs: the files have the requested properties.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { VIDEO_CODECS, VIDEO_TRAITS, type VideoCodec } from "#shared/format/codecs.ts";
import { TRACK_CONTAINER_TRAITS } from "#shared/format/containers.ts";
import type { MediaProbe, ProbedStream } from "#shared/media/media-probe.ts";
import type { OutputOptions } from "#shared/testing/output-specs.ts";
import { fileFolder } from "../../../test/fixtures.ts";
import { few, SLOW } from "../../testing/few.ts";
import { encodeClip, encodeOne, probe, REFERENCE_FFMPEG } from "../../testing/plan-runs.ts";
import { clipsOfFile } from "../../testing/workshop-of-file.ts";
import { toolEnvironment } from "../sandbox/tool-environment.ts";

const run = promisify(execFile);
const X264 = "-c:v libx264 -preset ultrafast";
const NOISE = "testsrc2=s=176x144:r=25:d=2,noise=alls=20:allf=t";
/** Full scale on all channels at once, so that every mix exceeds it. */
const LOUD = ["0.9", "0.9", "0.9", "0.9", "0.9", "0.9"].map((level) => `${level}*sin(880*t)`).join("|");
const BEEP = "aevalsrc=if(lt(t\\,0.5)\\,sin(3000*t)\\,0):d=1:s=48000";
const CLIPS: Readonly<Record<string, string>> = {
  "noise.mp4": `-f lavfi -i ${NOISE} ${X264} -crf 10`,
  "clip.mp4": `-f lavfi -i testsrc2=s=320x180:r=25:d=4 -f lavfi -i sine=d=4 ${X264} -g 50 -c:a aac -metadata title=Clip -metadata artist=One -metadata:s:a language=deu -timecode 01:00:00:00`,
  "clip.ts": "-i clip.mp4 -map 0:v -map 0:a -c copy",
  "clip.avi": "-i clip.mp4 -map 0:v -map 0:a -c:v mpeg4 -bf 2 -c:a mp3",
  "loud.mkv": `-f lavfi -i aevalsrc=${LOUD}:c=5.1:d=1 -c:a flac`,
  "choir.wav": `-f lavfi -i sine=d=1 -af pan=10c|${Array.from({ length: 10 }, (_, at) => `c${at}=c0`).join("|")}`,
  "two.mkv": "-i clip.mp4 -i loud.mkv -map 0:v -map 1:a -map 0:a -c copy -disposition:a:0 0 -disposition:a:1 default",
  "late-audio.mkv": `-f lavfi -i color=black:s=64x64:r=25:d=2 -itsoffset 1 -f lavfi -i ${BEEP} -map 0 -map 1 ${X264} -c:a flac`,
  "late-video.mkv": `-itsoffset 1 -f lavfi -i color=white:s=64x64:r=25:d=1 -f lavfi -i ${BEEP} -map 0 -map 1 -fps_mode vfr ${X264} -c:a flac`,
};

const folder = fileFolder();
const clip = (name: string): string => path.join(folder, name);
clipsOfFile(folder, CLIPS);

/** A container for the codec. */
const containerOf = (codec: VideoCodec): string =>
  (["mp4", "mov"] as const).find((name) => TRACK_CONTAINER_TRAITS[name].video.includes(codec)) ?? "mkv";
const videoOf = ({ streams }: MediaProbe): ProbedStream | undefined =>
  streams.find(({ codec_type }) => codec_type === "video");

/** Encodes all formats in as few runs as possible. Returns each format with its probe. */
async function probes(
  source: string,
  formats: readonly string[],
  durationMs: number | null = null,
): Promise<[string, MediaProbe][]> {
  const requests = formats.map((format): OutputOptions => ({ format, durationMs }));
  const { files, failures } = await encodeClip(clip(source), requests);
  expect(failures).toEqual([]);
  return Promise.all(
    formats.map(async (format, at) => [format, await probe(files.get(at)?.[0] ?? "")] as [string, MediaProbe]),
  );
}

describe("rates", () => {
  const withRate = (spec: "video_bitrate" | "maxrate" | "2pass"): VideoCodec[] =>
    VIDEO_CODECS.filter((codec) => VIDEO_TRAITS[codec].rates.includes(spec) && codec !== "dnxhd");
  /** A bitrate in kbit/s that each codec would exceed for noise. */
  const kbps = (codec: VideoCodec): number => (codec === "mjpeg" ? 1500 : 500);
  const spent = ([format, { format: file }]: [string, MediaProbe]): [string, number] => [
    format,
    (Number(file.size) * 8) / 2000,
  ];

  test("two passes come close to the bitrate", SLOW, async () => {
    const formats = withRate("2pass").map((codec) => `${containerOf(codec)}:${codec}_${kbps(codec)}k:x:2pass`);
    for (const [format, mean] of (await probes("noise.mp4", formats)).map(spent)) {
      const requested = Number(/_(\d+)k/.exec(format)?.[1]);
      expect([format, mean > requested / 2, mean < requested * 2]).toEqual([format, true, true]);
    }
  });

  test("a bitrate cap applies with a quality and alone", SLOW, async () => {
    const formats = withRate("maxrate").flatMap((codec) =>
      ["quality=5,", ""].map((quality) => `${containerOf(codec)}:${codec}:x:${quality}maxrate=${kbps(codec)}k`),
    );
    for (const [format, mean] of (await probes("noise.mp4", formats)).map(spent)) {
      const cap = Number(/maxrate=(\d+)k/.exec(format)?.[1]);
      // Two seconds of video may also use up a buffer of two seconds.
      expect([format, mean < cap * 2]).toEqual([format, true]);
    }
  });

  test("each lower quality step gives a smaller file", SLOW, async () => {
    const codecs: VideoCodec[] = ["h264", "vp8", "theora", "mpeg4", "mpeg2video", "mjpeg", "flv", "wmv2", "prores-ks"];
    const STEPS = [5, 4, 3, 2, 1];
    const formats = codecs.flatMap((codec) =>
      STEPS.map((step) => `${containerOf(codec)}:${codec}_160x:x:quality=${step}`),
    );
    const probed = await probes("noise.mp4", formats, 1000);
    for (const [at, codec] of codecs.entries()) {
      const ofCodec = probed.slice(at * STEPS.length, (at + 1) * STEPS.length);
      const sizes = ofCodec.map(([, { format }]) => Number(format.size));
      expect([codec, sizes]).toEqual([codec, sizes.toSorted((a, b) => b - a)]);
      expect([codec, new Set(sizes).size]).toEqual([codec, 5]);
    }
  });
});

describe("bitstreams", () => {
  const FEW_FRAMES_MS = 200;
  /** ffprobe's names of profiles. */
  const PROFILES: Readonly<Record<string, RegExp>> = {
    baseline: /^Constrained Baseline$/,
    main: /^Main$/,
    // x264 declares the smallest profile that has all used features.
    high: /^High$/,
    high10: /^High( 10)?$/,
    high422: /^High( 10| 4:2:2)?$/,
    high444: /^High( 10| 4:2:2| 4:4:4 Predictive)?$/,
  };
  test("encodes all profiles with their pixel formats", async () => {
    const rows = (["h264", "hevc"] as const).flatMap((codec) =>
      Object.entries(VIDEO_TRAITS[codec].profiles).flatMap(([profile, formats]) =>
        formats.map((pixels) => ({
          profile,
          pixels,
          format: `mp4:${codec}_96x:x:vprofile=${profile},pix_fmt=${pixels}`,
        })),
      ),
    );
    const probed = await probes(
      "clip.mp4",
      rows.map(({ format }) => format),
      FEW_FRAMES_MS,
    );
    for (const [at, { profile, pixels, format }] of rows.entries()) {
      const video = probed[at]?.[1] && videoOf(probed[at][1]);
      expect([format, video?.pix_fmt, video?.profile]).toEqual([
        format,
        pixels,
        expect.stringMatching(PROFILES[profile] ?? ""),
      ]);
    }
  });

  test("encodes the requested pixel formats and levels", async () => {
    const rows = VIDEO_CODECS.flatMap((codec) =>
      VIDEO_TRAITS[codec].pixelFormats.map((pixels) => [
        `${containerOf(codec)}:${codec}_256x:x:pix_fmt=${pixels}`,
        pixels,
      ]),
    );
    const probed = await probes(
      "clip.mp4",
      rows.map(([format = ""]) => format),
      FEW_FRAMES_MS,
    );
    for (const [format, probedFile] of probed) {
      const requested = /pix_fmt=(\w+)/.exec(format)?.[1]?.replace("yuva444p10le", "yuva444p1[02]le") ?? "";
      // JPEG has full-range samples.
      expect([format, videoOf(probedFile)?.pix_fmt]).toEqual([
        format,
        expect.stringMatching(
          new RegExp(`^${format.includes("mjpeg") ? requested.replace("yuv", "yuvj") : requested}$`),
        ),
      ]);
    }
    const levels = await probes("clip.mp4", ["mp4:h264:x:level=41", "mp4:hevc:x:level=41"], FEW_FRAMES_MS);
    expect(levels.map(([, probedFile]) => videoOf(probedFile)?.level)).toEqual([41, 123]);
  });
});

describe("files", () => {
  const boxes = (data: Buffer): string[] => {
    const types: string[] = [];
    for (let at = 0; at + 8 <= data.length; at += Math.max(8, data.readUInt32BE(at)))
      types.push(data.toString("latin1", at + 4, at + 8));
    return types;
  };
  test("writes the index of mp4 first, or fragments", SLOW, async () => {
    const read = async (format: string): Promise<string[]> =>
      boxes(await readFile(await encodeOne(clip("clip.mp4"), { format })));
    expect(await read("mp4:240p")).toEqual(["ftyp", "moov", "free", "mdat"]);
    for (const format of ["mp4:240p::frag", "mp4:x::frag", "m4a"]) {
      const types = await read(format);
      expect([format, types.slice(0, 2), types.includes("moof")]).toEqual([format, ["ftyp", "moov"], format !== "m4a"]);
    }
  });

  test("writes the index of webm before the frames", async () => {
    const file = await readFile(await encodeOne(clip("clip.mp4"), { format: "webm:100x" }));
    const [cues, cluster] = ["1c53bb6b", "1f43b675"].map((id) => file.indexOf(Buffer.from(id, "hex")));
    expect((cues ?? -1) > 0 && (cues ?? 0) < (cluster ?? 0)).toBe(true);
  });

  test("keeps the source's tags except its container's own tags, or drops all tags", async () => {
    const tags = async (format: string) => {
      const { format: file, streams } = await probe(await encodeOne(clip("clip.mp4"), { format }));
      return JSON.stringify([file.tags, ...streams.map((stream) => stream.tags)]);
    };
    for (const format of ["mp4:100x", "mkv:100x", "mkv:copy:copy", "mov:100x"]) {
      const tagText = await tags(format);
      expect(tagText).toMatch(/"title":"Clip".*"artist":"One"|"artist":"One".*"title":"Clip"/i);
      // QuickTime has other language codes.
      if (!format.startsWith("mov")) expect(tagText).toMatch(/"language":"(deu|ger)"/);
      if (format.startsWith("mkv")) expect(tagText).not.toMatch(/brand/i);
      const none = await tags(`${format}${format.includes("copy") ? ":" : "::"}metadata=0`);
      expect(none).not.toMatch(/Clip|One|deu|ger|Lavf\d|Lavc\d|timecode/);
    }
  });
});

describe("copies", () => {
  few(1).each([
    ["clip.ts", "mp4:copy:copy", "h264,aac"],
    ["clip.mp4", "mpegts:copy:copy", "h264,aac"],
    ["clip.mp4", "flv:copy:mp3", "h264,mp3"],
    ["clip.avi", "mp4:copy:copy", "mpeg4,mp3"],
    ["clip.mp4", "mkv:vp8:copy", "vp8,aac"],
    ["clip.mp4", "aac:copy", "aac"],
  ])("%s as %s", async (source, format, codecs) => {
    const file = await encodeOne(clip(source), { format });
    const { streams, format: container } = await probe(file);
    expect(streams.map(({ codec_name }) => codec_name).join()).toBe(codecs);
    expect(Math.abs(Number(container.duration) - 4)).toBeLessThan(0.2);
    const decoding = "-fps_mode vfr -f null -".split(" ");
    const { stderr } = await run(REFERENCE_FFMPEG, ["-v", "error", "-xerror", "-i", file, ...decoding]);
    expect(stderr).toBe("");
  });

  test("plays copies that are trimmed at an offset from there on", async () => {
    const file = await encodeOne(clip("clip.mp4"), { format: "mp4:copy:copy", params: { offset: 2.5, duration: 1 } });
    const { stdout } = await run(REFERENCE_FFMPEG, ["-v", "error", "-i", file, "-map", "0:v", "-f", "framecrc", "-"]);
    expect(Math.abs(stdout.split("\n").filter((line) => line.startsWith("0,")).length - 25)).toBeLessThanOrEqual(1);
  });
});

describe("audio", () => {
  /** Loudest sample and mean, in dB of full scale. */
  async function volume(file: string, filters = ""): Promise<{ max: number; mean: number }> {
    const argv = ["-hide_banner", "-i", file, "-vn", "-af", `${filters}volumedetect`, "-f", "null", "-"];
    const { stderr } = await run(REFERENCE_FFMPEG, argv, { env: toolEnvironment() });
    const of = (name: string): number => Number(new RegExp(`${name}_volume: (\\S+) dB`).exec(stderr)?.[1]);
    return { max: of("max"), mean: of("mean") };
  }

  test("mixes audio down to fewer channels without clipping or a loss of volume", async () => {
    for (const format of ["wav:stereo", "wav:mono", "flac:stereo"]) {
      const { max } = await volume(await encodeOne(clip("loud.mkv"), { format }));
      expect([format, max > -1.5, max < -0.2]).toEqual([format, true, true]);
    }
  });

  test("mixes ten channels down to two", async () => {
    const { streams } = await probe(await encodeOne(clip("choir.wav"), { format: "m4a" }));
    expect(streams[0]?.channels).toBe(2);
  });

  test("takes the audio from the default track", async () => {
    const { streams } = await probe(await encodeOne(clip("two.mkv"), { format: "mp4:100x" }));
    expect(streams.map(({ codec_type, channels }) => channels ?? codec_type)).toEqual(["video", 1]);
  });

  const FROM_ZERO = "aresample=async=1:first_pts=0";
  /** The time in seconds at which the beep starts. */
  async function audioStart(file: string): Promise<number> {
    const argv = ["-hide_banner", "-i", file, "-vn", "-af", `${FROM_ZERO},silencedetect=n=0.05:d=0.1`];
    const { stderr } = await run(REFERENCE_FFMPEG, [...argv, "-f", "null", "-"]);
    return Number(/silence_start: 0(?:\.0\d*)?\s[\s\S]*?silence_end: (\S+)/.exec(stderr)?.[1] ?? 0);
  }

  few(1).each(["avi:mpeg4:pcm", "avi:mpeg4:mp3", "ogv:theora:vorbis", "flv:h264:aac", "mkv:h264:opus", "asf"])(
    "that begins late stays late in %s",
    async (format) => {
      const file = await encodeOne(clip("late-audio.mkv"), { format });
      expect(Math.abs((await audioStart(file)) - 1)).toBeLessThan(0.08);
    },
  );

  few(1).each(["avi:mpeg4:pcm", "avi:h264:mp3"])("next to video that begins late is not late in %s", async (format) => {
    const file = await encodeOne(clip("late-video.mkv"), { format });
    const { streams } = await probe(file);
    expect(Math.abs(Number(videoOf({ streams, format: {} })?.duration) - 2)).toBeLessThan(0.1);
    expect(await audioStart(file)).toBe(0);
  });
});
