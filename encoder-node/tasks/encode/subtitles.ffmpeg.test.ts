// Text tracks of sources in streams, from ffmpeg's demuxers to stored playlists.
import { afterAll, beforeAll, expect, it } from "vitest";
import { cuesIn, objectIn, openSubtitleJobs, type SubtitleJobs, subRip } from "../../testing/jobs/subtitle-jobs.ts";
import { closeServers, serve } from "../../testing/range-server.ts";

/** Texts of scripts that are written in other directions or without spaces. */
const LANGUAGES: readonly (readonly [language: string, text: string])[] = [
  ["ara", "مرحبا بكم في المطار"],
  ["heb", "ברוכים הבאים לשדה התעופה"],
  ["tha", "ยินดีต้อนรับสู่สนามบิน"],
  ["jpn", "空港（くうこう）へようこそ"],
  ["kor", "공항에 오신 것을 환영합니다"],
  ["hin", "हवाई अड्डे में आपका स्वागत है"],
  ["rus", "Добро пожаловать"],
  ["deu", "Größe & <Maß>"],
];
const EXPECTED = ([, text]: readonly [string, string]): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const CUES = [
  [1001, 2502, "One"],
  [2000, 3333, "overlaps it\nwith a second line"],
  [4000, 5999, "<i>End</i>"],
] as const;
const SEPARATE = [CUES[0], CUES[2]] as const;

let jobs: SubtitleJobs;
beforeAll(async () => {
  jobs = await openSubtitleJobs();
  const video = "-f lavfi -i testsrc2=s=64x36:r=10:d=7";
  const x264 = "-c:v libx264 -preset ultrafast";
  await jobs.write("cues.srt", subRip(CUES));
  await jobs.write("separate.srt", subRip(SEPARATE));
  await jobs.write("cues.vtt", "WEBVTT\n\nfirst\n00:01.001 --> 00:02.502 line:0\n<v Ann>One</v>\n");
  for (const [language, text] of LANGUAGES) await jobs.write(`${language}.srt`, subRip([[500, 1500, text]]));
  await jobs.make("srt.mkv", `${video} -i cues.srt -map 0 -map 1 ${x264} -c:s srt`);
  await jobs.make("ass.mkv", `${video} -i separate.srt -map 0 -map 1 ${x264} -c:s ass`);
  await jobs.make("vtt.mkv", `${video} -i cues.vtt -map 0 -map 1 ${x264} -c:s copy`);
  await jobs.make("text.mp4", `${video} -i separate.srt -map 0 -map 1 ${x264} -c:s mov_text`);
  await jobs.make("late.mkv", "-i srt.mkv -map 0 -c copy -output_ts_offset 1.5");
  const inputs = LANGUAGES.map(([language]) => `-i ${language}.srt`).join(" ");
  const maps = LANGUAGES.map((_, at) => `-map ${at + 1}`).join(" ");
  const tags = LANGUAGES.map(([language], at) => `-metadata:s:s:${at} language=${language}`).join(" ");
  const traits = "-metadata:s:s:6 title=Signs -disposition:s:6 forced -disposition:s:7 default+hearing_impaired";
  await jobs.make("many.mkv", `${video} ${inputs} -map 0 ${maps} ${x264} -c:s srt ${tags} ${traits}`);
  await jobs
    .make("images.mkv", `-i many.mkv -map 0:v -map 0:s:7 -map 0:s:6 -c:v copy -c:s:0 dvd_subtitle -s 64x36 -c:s:1 copy`)
    .catch(() => jobs.make("images.mkv", `-i many.mkv -map 0:v -map 0:s:6 -c copy`));
});
afterAll(async () => {
  closeServers();
  await jobs.close();
});

const stream = (subtitles: unknown, params: object = {}) => ({
  format: "httpstream",
  params: { hls: { path: "h" }, dash: { path: "d" }, variants: ["mp4:64x36"], subtitles, ...params },
});
const only = /^dash\/.*subtitles-1\.vtt$/;

it.each([
  ["SubRip in Matroska", "srt.mkv", CUES],
  ["ASS in Matroska", "ass.mkv", SEPARATE],
  ["text in MP4", "text.mp4", SEPARATE],
  ["SubRip in a file whose clock starts late", "late.mkv", CUES],
])("the text of a track keeps its times to the millisecond: %s", async (_, source, cues) => {
  const { storage, reports } = await jobs.encode(source, [stream([{ from: 1 }])]);
  expect(reports).toMatchObject([{ status: "made" }]);
  const stored = cuesIn(objectIn(storage, only));
  expect(stored.map(([, , text]) => text)).toEqual(cues.map(([, , text]) => text));
  for (const [at, [start, end]] of cues.entries()) {
    // ASS counts in hundredths of a second.
    const tolerance = source === "ass.mkv" ? 10 : 1;
    expect(Math.abs((stored[at]?.[0] ?? -1) - start)).toBeLessThanOrEqual(tolerance);
    expect(Math.abs((stored[at]?.[1] ?? -1) - end)).toBeLessThanOrEqual(tolerance);
  }
});

it("trims the text of the input to a clip and moves it, but not files at a URL", async () => {
  const { origin } = await serve((_, response) => response.end(subRip(SEPARATE)));
  const url = `${origin}/separate.srt`;
  const clip = { startMs: 1500, endMs: 4500 };
  const texts = [
    { from: 1, name: "A" },
    { url, language: "en", name: "B" },
  ];
  const requests = [
    stream(texts),
    { format: "vtt", params: { path: "a.vtt", from: 1 } },
    { format: "mkv", params: { subtitles: texts } },
  ];
  const { storage, reports } = await jobs.encode(
    "srt.mkv",
    requests.map((request) => ({ ...request, clip })),
  );
  expect(reports).toMatchObject(requests.map(() => ({ status: "made" })));
  const moved: [number, number, string][] = [
    [0, 1002, "One"],
    [500, 1833, "overlaps it\nwith a second line"],
    [2500, 3000, "<i>End</i>"],
  ];
  expect(cuesIn(objectIn(storage, only))).toEqual(moved);
  expect(cuesIn(objectIn(storage, /^dash\/.*subtitles-2\.vtt$/))).toEqual([SEPARATE[0]]);
  expect(cuesIn(objectIn(storage, /^1\.1$/))).toEqual(moved);
  // A file starts a millisecond before its first frame.
  const inFile = (cues: readonly (readonly [number, number, string])[]) =>
    cues.map(([start, end, text]) => [start && start + 1, Math.min(end + 1, 3000), text]);
  const stored = await jobs.textsIn(storage, 2, "mkv");
  expect(stored.map(([, , , cues]) => cues)).toEqual([inFile(moved), inFile([SEPARATE[0]])]);
});

it("keeps identifiers, settings and voices of WebVTT in Matroska", async () => {
  const { storage } = await jobs.encode("vtt.mkv", [stream([{ from: 1, name: "Settings" }])]);
  expect(objectIn(storage, only)).toBe("WEBVTT\n\nfirst\n00:00:01.001 --> 00:00:02.502 line:0\n<v Ann>One</v>\n");
});

it("adds all text tracks with their languages, names and dispositions", async () => {
  const { storage, reports } = await jobs.encode("many.mkv", [stream("all")]);
  expect(reports).toMatchObject([{ status: "made" }]);
  const texts = LANGUAGES.map((_, at) => objectIn(storage, new RegExp(`^dash/.*subtitles-${at + 1}\\.vtt$`)));
  expect(texts.map(cuesIn)).toEqual(LANGUAGES.map((language) => [[500, 1500, EXPECTED(language)]]));
  const media = objectIn(storage, /^hls\/master\.m3u8$/)
    .split("\n")
    .filter((line) => line.includes("TYPE=SUBTITLES"))
    .map((line) => line.replace(/,URI=.*|^.*GROUP-ID="subtitles",/g, ""));
  expect(media).toEqual([
    'LANGUAGE="ar",NAME="العربية",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="he",NAME="עברית",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="th",NAME="ไทย",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="ja",NAME="日本語",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="ko",NAME="한국어",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="hi",NAME="हिन्दी",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO',
    'LANGUAGE="ru",NAME="Signs",DEFAULT=NO,AUTOSELECT=YES,FORCED=YES',
    'LANGUAGE="de",NAME="Deutsch",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,' +
      'CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound"',
  ]);
  const roles = [...objectIn(storage, /\.mpd$/).matchAll(/role:2011" value="([a-z-]+)"/g)].map(([, role]) => role);
  expect(roles).toEqual([...Array(6).fill("subtitle"), "forced-subtitle", "caption", "main"]);
});

it("chooses a track by its language, and moves its cues", async () => {
  const requested = [
    { from: "de", shift: -1, kind: "subtitles", name: "Früher" },
    { from: "th", shift: 2.25, language: "th-TH", forced: true, default: true },
    { from: "sv", optional: true },
  ];
  const { storage, reports } = await jobs.encode("many.mkv", [stream(requested, { dash: undefined })]);
  expect(reports).toMatchObject([
    { status: "made", note: expect.stringContaining("no subtitle track in the language sv") },
  ]);
  const texts = [1, 2].map((at) => objectIn(storage, new RegExp(`subtitles-${at}/00001\\.vtt$`)));
  expect(texts.map(cuesIn).map(([cue]) => cue)).toEqual([
    [0, 500, EXPECTED(["deu", "Größe & <Maß>"])],
    [2750, 3750, "ยินดีต้อนรับสู่สนามบิน"],
  ]);
  expect(objectIn(storage, /^hls\/master\.m3u8$/)).toMatch(/LANGUAGE="th-TH",NAME="ไทย.*",DEFAULT=YES.*FORCED=YES/);
});

it("fails only the output that names a missing track", async () => {
  const { reports } = await jobs.encode("srt.mkv", [stream([{ from: 2 }]), { format: "mp4:32x18" }]);
  expect(reports).toMatchObject([
    {
      status: "failed",
      failure: {
        code: "input_track_not_found",
        message: "The input has no subtitle track 2; the languages of its subtitle tracks are und.",
      },
    },
    { status: "made" },
  ]);
});

it("makes WebVTT and SubRip of tracks and of files, without encoding anything", async () => {
  const { storage, reports } = await jobs.encode("many.mkv", [
    { format: "vtt", params: { from: "de", shift: 10 } },
    { format: "srt", params: { from: 8 } },
    { format: "srt", params: { from: "sv" } },
    { format: "vtt", params: { from: "cc1", optional: true } },
  ]);
  expect(reports).toMatchObject([
    { status: "made", probe: { format: { format_name: "webvtt" }, streams: [{ codec_name: "webvtt" }] } },
    { status: "made", probe: { format: { format_name: "srt" }, streams: [{ codec_name: "subrip" }] } },
    { status: "failed", failure: { code: "input_track_not_found" } },
    // The job skips it.
    { status: "failed", failure: { code: "input_track_not_found" } },
  ]);
  expect(objectIn(storage, /^0\.1$/)).toBe("WEBVTT\n\n00:00:10.500 --> 00:00:11.500\nGröße &amp; &lt;Maß&gt;\n");
  expect(objectIn(storage, /^1\.1$/)).toBe("1\n00:00:00,500 --> 00:00:01,500\nGröße & <Maß>\n");
});

it("makes text of an input of audio, and an empty text of a track without cues", async () => {
  await jobs.write("late.srt", subRip([[5000, 6000, "late"]]));
  await jobs.make("audio.mkv", "-f lavfi -i sine=d=3 -i late.srt -map 0 -map 1 -c:a flac -c:s srt");
  const { storage, reports } = await jobs.encode("audio.mkv", [
    { format: "srt", params: { from: 1 } },
    { format: "vtt", params: { from: 1, shift: -10 } },
    { format: "srt", params: { from: 1, shift: -10 } },
  ]);
  expect(reports.map(({ status }) => status)).toEqual(["made", "made", "made"]);
  expect([0, 1, 2].map((at) => objectIn(storage, new RegExp(`^${at}\\.1$`)))).toEqual([
    "1\n00:00:05,000 --> 00:00:06,000\nlate\n",
    "WEBVTT\n",
    "\n",
  ]);
});

it("leaves tracks without text in the output's time out, with a note", async () => {
  await jobs.write("empty.srt", "\n");
  await jobs.write("empty.ass", "[Script Info]\nScriptType: v4.00+\n");
  await jobs.write("past.srt", subRip([[9000, 9500, "Too late"]]));
  await jobs.write("line.srt", subRip([[1000, 3000, "First line"]]));
  const files = ["empty.srt", "empty.ass", "past.srt", "line.srt"];
  const inputs = files.map((file) => `-f ${file.slice(-3)} -i ${file}`).join(" ");
  await jobs.make(
    "quiet.mkv",
    `-i srt.mkv ${inputs} -map 0:v -map 1 -map 2 -map 3 -map 4 -c copy -metadata:s:s language=eng`,
  );
  const lost = (name: string): string =>
    `This output lacks the subtitles \`${name}\`, because they have no text in its time.`;
  const containers = ["mp4:32x18", "mov:32x18", "mkv:32x18", "webm:32x18"];
  const trailer = { subtitles: [{ from: 4 }], duration: 0.5 };
  const { storage, reports } = await jobs.encode("quiet.mkv", [
    ...containers.map((format) => ({ format, params: { subtitles: "all" } })),
    ...containers.map((format) => ({ format, params: trailer })),
    stream("all"),
    { format: "mkv:32x18", params: { subtitles: [{ from: 2 }] } },
    ...[1, 2, 3, 4].map((from) => ({ format: "mp4:32x18", params: { burn: { from }, duration: 0.5 } })),
    { format: "srt", params: { from: 1 } },
    { format: "vtt", params: { from: 2 } },
    { format: "jpg:64x" },
  ]);
  const three = ["English", "English 2", "English 3"].map(lost).join(" ");
  const none = lost("English");
  expect(reports.map((report) => (report.status === "made" ? (report.note ?? "") : report.failure.message))).toEqual([
    ...[three, three, three, three, none, none, none, none, three, none, "", "", "", ""],
    ...Array(2).fill("The file has no cue, because its text has none."),
    "",
  ]);
  for (const [at, format] of containers.entries()) {
    const extension = format.split(":")[0] ?? "";
    const [texts, trailerTexts] = [
      await jobs.textsIn(storage, at, extension),
      await jobs.textsIn(storage, at + 4, extension),
    ];
    expect(texts.map(([, , , cues]) => cues)).toEqual([[[1000, 3000, "First line"]]]);
    expect(trailerTexts).toEqual([]);
  }
  const [playlist, manifest] = [objectIn(storage, /^hls\/master\.m3u8$/), objectIn(storage, /\.mpd$/)];
  expect([playlist.match(/TYPE=SUBTITLES/g)?.length, manifest.match(/contentType="text"/g)?.length]).toEqual([1, 1]);
  expect(objectIn(storage, /^15\.1$/)).toBe("WEBVTT\n");
});

it("reads SubRip in the same way from tracks and files, for tracks and for frames", async () => {
  const text = [
    "1\n00:00:0,500 --> 00:00:01,000\nMeet at 10:00:00,000 --> 11:00:00,000 tomorrow\n",
    "2\n00:00:02,000 --> 00:00:03,000\n\n1.567.202.\n",
    '3\n00:00:03,000 --> 00:00:04,000\nI <3 you & <i>you</i> {\\an8}top <font color="#ff0000">red</font>',
  ].join("\n");
  await jobs.write("odd.srt", text);
  const { origin } = await serve((_, response) => response.end(text));
  await jobs.make("odd.mkv", "-i srt.mkv -i odd.srt -map 0:v -map 1 -c copy");
  const url = `${origin}/odd.srt`;
  const { storage, reports } = await jobs.encode("odd.mkv", [
    { format: "vtt", params: { from: 1 } },
    { format: "vtt", params: { url } },
    ...[{ from: 1 }, { url }].map((source) => ({
      format: "png:64x36",
      params: { burn: { ...source, size: 20 }, offsets: [0.7, 2.5, 5] },
    })),
  ]);
  expect(reports.map(({ status }) => status)).toEqual(Array(4).fill("made"));
  const [track, file] = [0, 1].map((at) => cuesIn(objectIn(storage, new RegExp(`^${at}\\.1$`))));
  expect(file).toEqual([
    [500, 1000, "Meet at 10:00:00,000 --&gt; 11:00:00,000 tomorrow"],
    [2000, 3000, "1.567.202."],
    [3000, 4000, "I &lt;3 you &amp; <i>you</i> top red"],
  ]);
  expect(track).toEqual(file);
  const images = [2, 3].map((at) => [1, 2, 3].map((number) => storage.objects.get(`${at}.${number}`)?.toString("hex")));
  expect(images[1]).toEqual(images[0]);
});

it.each([
  ["mp4:32x18", "mp4", "mov_text"],
  ["mp4:32x18::metadata=0", "mp4", "mov_text"],
  ["mov:32x18", "mov", "mov_text"],
  ["mkv:32x18", "mkv", "subrip"],
  ["webm:32x18", "webm", "webvtt"],
])("puts text tracks into %s with their languages and dispositions", async (format, extension, codec) => {
  const subtitles = [{ from: "de" }, { from: "ru", language: "ru" }];
  const { storage, reports } = await jobs.encode("many.mkv", [{ format, params: { subtitles } }]);
  expect(reports).toMatchObject([{ status: "made" }]);
  // WebM has no flag for hearing impaired viewers, QuickTime none for forced text.
  const marks = extension === "mp4" || extension === "mkv" ? "default,hearing_impaired" : "default";
  expect(await jobs.textsIn(storage, 0, extension)).toEqual([
    [codec, expect.stringMatching(/^(?:deu|ger)$/), marks, [[500, 1500, "Größe & <Maß>"]]],
    [codec, "rus", extension === "mov" ? "" : "forced", [[500, 1500, "Добро пожаловать"]]],
  ]);
});

it("clips text to the part of the source that a file shows, and keeps ASS in Matroska", async () => {
  const part = { offset: 1.5, duration: 3, subtitles: [{ from: 1 }] };
  const { storage, reports } = await jobs.encode("ass.mkv", [
    { format: "mp4:32x18", params: part },
    { format: "mkv:32x18", params: part },
    { format: "mkv:copy:x", params: { subtitles: [{ from: 1, shift: 0.5 }] } },
  ]);
  expect(reports.map(({ status }) => status)).toEqual(["made", "made", "made"]);
  // The part starts with a frame at most a millisecond earlier, and ASS counts in hundredths of a second.
  const near = (ms: number): unknown => expect.closeTo(ms, -1.4);
  const clipped = [
    [near(0), near(1000), "One"],
    [near(2500), near(3000), "<i>End</i>"],
  ];
  expect(await jobs.textsIn(storage, 0, "mp4")).toEqual([["mov_text", "und", "default", clipped]]);
  expect(await jobs.textsIn(storage, 1, "mkv")).toEqual([["ass", undefined, "", clipped]]);
  expect((await jobs.textsIn(storage, 2, "mkv"))[0]?.[3]).toEqual([
    [near(1500), near(3000), "One"],
    [near(4500), near(6500), "<i>End</i>"],
  ]);
});

it("makes a file without text if its input lacks an optional track", async () => {
  const subtitles = [{ from: "sv", optional: true }];
  const { reports } = await jobs.encode("srt.mkv", [{ format: "mp4:32x18", params: { subtitles } }]);
  expect(reports).toMatchObject([{ status: "made", note: expect.stringContaining("language sv") }]);
});
