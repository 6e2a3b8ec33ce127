// Text of the input in outputs of chunks: files, streams and frames, compared with the same outputs made in one run.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join as pathOf } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod";
import { type OutputOptions, specOf } from "#shared/testing/output-specs.ts";
import { toolEnvironment } from "../../ffmpeg/sandbox/tool-environment.ts";
import { everyNth } from "../../testing/few.ts";
import { captionFrames, lettersOf, type Pair, pairsByFrame, twice } from "../../testing/jobs/captioned-clip.ts";
import {
  type ChunkTestBed,
  encodeInChunks,
  encodeWhole,
  type Outputs,
  openChunkTestBed,
} from "../../testing/jobs/chunked-jobs.ts";
import { cuesIn, subRip } from "../../testing/jobs/subtitle-jobs.ts";
import { makeLosslessFfmpeg } from "../../testing/processes/lossless-ffmpeg.ts";
import { openWorkshop } from "../../testing/source-workshop.ts";
import { tools } from "../../testing/task-deps.ts";

const run = promisify(execFile);
let testBed: ChunkTestBed;
let ffmpeg: typeof tools.ffmpeg;

/** Chunks start at 24 and 48 s. */
const CUES: [number, number, string][] = [
  [1000, 3000, "One & <i>first</i>"],
  [22_500, 25_500, "Across"],
  [23_990, 24_000, "Until"],
  [24_000, 24_010, "From"],
  [46_000, 49_000, "Über"],
  [69_000, 75_000, "End"],
];
const ASS = `[Script Info]
ScriptType: v4.00+
PlayResX: 640
PlayResY: 360

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Noto Sans,80,&H00FFFFFF,&H000000FF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,20,20,20,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:22.00,0:00:26.00,Default,,0,0,0,,{\\fad(1500,1500)}{\\kf200}Ka{\\kf200}ra
Dialogue: 0,0:00:23.50,0:00:49.00,Default,,0,0,0,,{\\move(20,100,600,300)}Moving
`;
const CHAPTERS = `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1
START=0
END=30
title=A & B
[CHAPTER]
TIMEBASE=1/1
START=30
END=70
`;
/** Roll-up text: its rows depend on everything before. Pop-on text in the third channel. */
const ROLL_UP: readonly Pair[] = pairsByFrame(
  [60, 550, 596, 603, 1150, 1203].map((frame, at) => [
    frame,
    [...twice(0x1426), ...twice(0x142d), ...twice(0x1470), ...lettersOf(`LINE ${at}`)],
  ]),
);
const POP_ON: readonly Pair[] = pairsByFrame([
  [0, [...twice(0x1520), ...twice(0x1470), ...lettersOf("HOLA")]],
  [580, twice(0x152f)],
  [1250, twice(0x152c)],
]);

beforeAll(async () => {
  testBed = await openChunkTestBed([]);
  const { folder } = testBed;
  ffmpeg = await makeLosslessFfmpeg(folder);
  const workshop = openWorkshop(folder);
  await writeFile(pathOf(folder, "a.srt"), subRip(CUES));
  await writeFile(pathOf(folder, "b.srt"), subRip([[2000, 3000, "[DOOR SHUTS]"]]));
  await writeFile(pathOf(folder, "a.ass"), ASS);
  await captionFrames(workshop, [ROLL_UP, POP_ON], { fps: "25", seconds: 70 });
  const video = "-r 25 -i captioned.h264";
  await writeFile(pathOf(folder, "chapters.txt"), CHAPTERS);
  const sine = "-f lavfi -i sine=d=70:r=48000";
  const languages = "-metadata:s:s:0 language=eng -metadata:s:s:1 language=deu";
  await workshop.make(
    "texts.mkv",
    `${video} ${sine} -i a.srt -i a.ass -i chapters.txt -map 0 -map 1 -map 2 -map 3 -c copy -c:a flac ${languages}`,
  );
  await workshop.make(
    "texts.mp4",
    `${video} ${sine} -i a.srt -i b.srt -map 0 -map 1 -map 2 -map 3 -c copy -c:a aac -c:s mov_text ${languages}`,
  );
  await workshop.make("captions.ts", "-i texts.mp4 -map 0:v -map 0:a -c copy");
  const varying =
    "-vf select='not(mod(n\\,3))+gt(mod(n\\,7)\\,4)' -fps_mode vfr -c:v libx264 -g 60 -c:a flac -c:s copy";
  await workshop.make("varying.mkv", `-i texts.mkv -map 0 ${varying}`);
  await workshop.make("late.mp4", "-i texts.mp4 -itsoffset 5.3 -i texts.mp4 -map 1:v -map 0:a -map 0:s -c copy");
  // A feature: 5.1 and stereo in tracks of one channel each, translations of signs, and text for the hearing impaired.
  const mono = Array.from({ length: 8 }, (_, at) => `-f lavfi -i sine=${200 + 50 * at}:d=70:r=48000`).join(" ");
  const maps = Array.from({ length: 11 }, (_, at) => `-map ${at}`).join(" ");
  await workshop.make(
    "feature.mkv",
    `${video} ${mono} -i a.srt -i b.srt ${maps} -c copy -c:a pcm_s16le -ac 1 -metadata:s:s language=eng -disposition:s:0 forced -disposition:s:1 hearing_impaired`,
  );
});
afterAll(() => testBed.close());

const Traits = z.object({ streams: z.array(z.unknown()), chapters: z.array(z.unknown()) });

/** A file's frames, audio and text with their times, and the traits of all tracks but the video. */
async function contentOf(bytes: Buffer | undefined, isTimed = true): Promise<unknown> {
  const path = pathOf(await mkdtemp(pathOf(testBed.folder, "look-")), "file");
  await writeFile(path, bytes ?? "");
  const options = { env: toolEnvironment(), maxBuffer: 1e8 };
  const hash = ["-map", "0:v?", "-map", "0:a?", "-enc_time_base:v", "-1"];
  const decoded = await run(
    tools.ffmpeg.path,
    ["-v", "error", "-copyts", "-i", path, ...hash, "-fps_mode", "passthrough", "-f", "framehash", "-"],
    options,
  );
  const text = "packet=pts_time,duration_time,data_hash";
  const packets = ["-v", "error", "-select_streams", "s", "-show_data_hash", "md5", "-show_entries", text, path];
  const entries =
    "stream=codec_name:stream_disposition=default,forced,hearing_impaired:stream_tags=language,title,handler_name:chapter=start_time,end_time:chapter_tags=title";
  const streams = ["-v", "error", "-show_entries", entries, "-of", "json", path];
  const traits = Traits.parse(JSON.parse((await run(tools.ffprobe.path, streams, options)).stdout));
  return {
    frames: decoded.stdout
      .split("\n")
      .map((frame) => (isTimed ? frame : frame.replace(/^([01],)[-\d, ]+,/, "$1")))
      .toSorted(),
    texts: (await run(tools.ffprobe.path, packets, options)).stdout.split("[PACKET]").filter(hasText).toSorted(),
    tracks: traits.streams.slice(1),
    chapters: traits.chapters,
  };
}

/** ffmpeg starts a track of mov_text with one or two empty samples, as the packets of other tracks happen to arrive. */
const EMPTY = createHash("md5").update(Buffer.alloc(2)).digest("hex");
const hasText = (packet: string): boolean => !packet.includes(EMPTY);

/** Playlists and segments of text, without names of the lease and measured values. */
function textsIn({ storage }: Outputs): [name: string, text: string][] {
  const plain = (text: string): string =>
    text.replaceAll(/\d{14}_[a-z]+_1/g, "F").replaceAll(/(BANDWIDTH=|bandwidth=")\d+|BYTERANGE:.*|URI=".*"/g, "");
  return [...storage.objects]
    .filter(([name]) => /\.(m3u8|mpd|vtt)$/.test(name))
    .map(([name, bytes]): [string, string] => [plain(name), plain(bytes.toString())])
    .toSorted();
}

/** The video of a stream: its header, and its segments one after the other. */
const videoOf = ({ storage }: Outputs): Buffer =>
  Buffer.concat(
    [...storage.objects]
      .filter(([name]) => /36p\/(?:init\.mp4|\d+\.m4s)$/.test(name))
      .toSorted(([a], [b]) => (/init/.test(a) || (a < b && !/init/.test(b)) ? -1 : 1))
      .map(([, bytes]) => bytes),
  );

async function both(clip: string, requests: readonly OutputOptions[]) {
  const outputs = requests.map(specOf);
  const lossless = { ...testBed, node: { ...testBed.node, depsOf: losslessDeps } };
  const [whole, many] = [await encodeWhole(lossless, clip, outputs), await encodeInChunks(lossless, clip, outputs)];
  const reports = [whole, many].map(({ result }) =>
    result.outputs
      .toSorted((a, b) => a.output - b.output)
      .map((report) => (report.status === "made" ? (report.note ?? "") : report.failure.message)),
  );
  expect(reports[1]).toEqual(reports[0]);
  return { whole, many, reports };
}
const losslessDeps: ChunkTestBed["node"]["depsOf"] = (lease, task, changes) =>
  testBed.node.depsOf(lease, task, { ...changes, ffmpeg });

async function expectSameFiles(
  { whole, many }: Awaited<ReturnType<typeof both>>,
  count: number,
  untimed = count,
): Promise<void> {
  for (let index = 0; index < count; index++) {
    const [a, b] = [whole, many].map(({ storage }) => storage.objects.get(`${index}.1`));
    expect(b === undefined).toBe(a === undefined);
    const isTimed = index < untimed;
    if (a) expect(await contentOf(b, isTimed)).toEqual(await contentOf(a, isTimed));
  }
}

const STYLE = { size: 20, background: "#00000080" };
const STREAM = {
  hls: { path: "a" },
  dash: { path: "b" },
  variants: ["mp4:64x36"],
  subtitles: [{ from: 1 }, { from: "de", kind: "captions" }, { from: "cc1", shift: -2 }, { from: "cc3" }],
  burn: { from: "cc1", size: 20 },
};
const ROWS: readonly (readonly [clip: string, drawn: readonly (string | number)[]])[] = [
  ["texts.mkv", [1, "de", "cc1"]],
  ["texts.mp4", ["en"]],
  ["captions.ts", ["cc3"]],
];
it.each(everyNth(2, ROWS))(
  "outputs of chunks have the text of %s in tracks, and in their frames: %j",
  async (clip, drawn) => {
    const tracks = [
      { from: 1, default: true, name: "Größe" },
      { from: "de", shift: 0.5 },
    ].map((track) => ({ ...track, optional: true }));
    const subtitles = [...tracks, { from: "cc1" }, { from: "cc3", optional: true }, { from: "cc2", optional: true }];
    const file = { url: `${testBed.origin}/b.srt`, language: "fr", shift: 22.5 };
    const files = [
      { format: "mp4:64x36", params: { subtitles } },
      ...drawn.map((from) => ({ format: "mp4:64x36", params: { burn: { from, ...STYLE } } })),
      { format: "mkv:128x72_15fps:noaudio", params: { burn: { from: drawn[0], shift: -1.37, ...STYLE } } },
      { format: "mp4:64x36", params: { burn: { from: "cc4", optional: true } } },
    ];
    const more = [
      { format: "mp4:64x36", params: { subtitles: [{ from: 1, shift: 3600 }] } },
      { format: "mov:64x36:noaudio:metadata=0", params: { subtitles: [...tracks, file] } },
      { format: "mkv:64x36", params: { subtitles: "all", audio: "all" } },
      { format: "httpstream", params: STREAM },
      { format: "mp4:64x36", params: { subtitles: [{ from: "cc4" }] } },
    ];
    const requests = [...files, ...(clip === "texts.mkv" ? more : [])];
    const result = await both(clip, requests);
    await expectSameFiles(result, requests.length);
    const [first, plain] = [1, drawn.length + 2].map((at) => contentOf(result.many.storage.objects.get(`${at}.1`)));
    expect(await first).not.toEqual(await plain);
    const [notes] = result.reports;
    expect(notes?.[0]).toMatch("The input's video has no closed captions in CC2, so this output lacks it.");
    expect(notes?.[drawn.length + 2]).toMatch(/no closed captions in CC4/);
    if (clip !== "texts.mkv") return;
    expect(notes?.[files.length]).toContain("no text in its time");
    expect(notes?.at(-2)).toBe("");
    expect(notes?.at(-1)).toContain("no closed captions in CC4");
    expect(textsIn(result.many)).toEqual(textsIn(result.whole));
    const [a, b] = await Promise.all([result.whole, result.many].map((outputs) => contentOf(videoOf(outputs))));
    expect(b).toEqual(a);
  },
);

it("a feature with merged tracks, a second language, text for the hearing impaired and signs is the same", async () => {
  const result = await both("feature.mkv", [
    {
      format: "mp4:64x36",
      params: {
        audio: [
          { from: [1, 2, 3, 4, 5, 6], language: "en" },
          { from: [7, 8], language: "de" },
        ],
        subtitles: "all",
      },
    },
    {
      format: "mkv:64x36:ac3_192k",
      params: { audio: [{ from: [7, 8], language: "de" }], subtitles: "all", burn: { from: 1, size: 20 } },
    },
  ]);
  await expectSameFiles(result, 2);
  expect(await contentOf(result.many.storage.objects.get("0.1"))).toMatchObject({
    tracks: [
      { tags: { language: "eng" } },
      { tags: { language: "deu" } },
      { codec_name: "mov_text", disposition: { forced: 1 } },
      { codec_name: "mov_text", disposition: { hearing_impaired: 1 } },
    ],
  });
});

const CLIP = { startMs: 3510, endMs: 69_020 };
const FILE_AT = (origin: string) => ({ url: `${origin}/a.srt`, language: "fr", name: "File" });

it.each([
  ["texts.mkv", 1],
  ["texts.mp4", "en"],
  ["captions.ts", "cc3"],
  ["varying.mkv", 1],
  ["late.mp4", "en"],
])("outputs of a clip of %s are the same in chunks, with their text and audio", async (clip, from) => {
  const subtitles = [{ from }, FILE_AT(testBed.origin)];
  const stream = { ...STREAM, variants: ["mp4:64x36", "mp4:x"], subtitles, burn: { from, size: 20 }, thumbnails: true };
  const requests: OutputOptions[] = [
    { format: "mp4:64x36", params: { subtitles } },
    { format: "mkv:64x36:noaudio", params: { subtitles, burn: { from, ...STYLE } } },
    { format: "mov:64x36_15fps", params: { audio: "all", loudness: -20 } },
    { format: "httpstream", params: stream },
    ...(clip === "late.mp4" ? [] : [{ format: "avi:h264_64x36:mp3" }]),
    ...(clip.endsWith(".mkv") ? [] : [{ format: "mpegts:64x36" }]),
  ];
  const result = await both(
    clip,
    requests.map((request) => ({ ...request, clip: CLIP })),
  );
  expect(result.reports[0]).toEqual(requests.map(() => ""));
  // Reordered frames have no times in AVI. The clock of MPEG-TS starts with the first packet that is written.
  await expectSameFiles(result, requests.length, 4);
  expect(textsIn(result.many)).toEqual(textsIn(result.whole));
  const chapters = textsIn(result.many)
    .flatMap(([name, text]) => (name.endsWith(".chapters.vtt") ? cuesIn(text) : []))
    .map(([start, end, text]) => [10 * Math.round(start / 10), 10 * Math.round(end / 10), text]);
  // The first frame of the clip is at 3.52 s.
  const cues = [
    [0, 26_480, "A &amp; B"],
    [26_480, 65_500, "Chapter 2"],
  ];
  expect(chapters).toEqual(clip.endsWith(".mkv") ? [...cues, ...cues] : []);
  const [a, b] = await Promise.all([result.whole, result.many].map((outputs) => contentOf(videoOf(outputs))));
  expect(b).toEqual(a);
});
