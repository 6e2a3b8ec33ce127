// Each source of text in each kind of output: times and text of 40 languages.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { captionFrames, lettersOf, pairsByFrame, twice } from "../../testing/jobs/captioned-clip.ts";
import {
  cuesIn,
  type Encoded,
  objectIn,
  openSubtitleJobs,
  type SubtitleJobs,
  subRip,
} from "../../testing/jobs/subtitle-jobs.ts";
import { closeServers, serve } from "../../testing/range-server.ts";
import { openWorkshop } from "../../testing/source-workshop.ts";

const TEXTS = [
  ...["Größe & <Maß>", "مرحبا بكم في المطار", "ברוכים הבאים", "ยินดีต้อนรับสู่สนามบิน", "空港（くうこう）へようこそ"],
  ...["공항에 오신 것을 환영합니다", "हवाई अड्डे में आपका स्वागत है", "Добро пожаловать", "欢迎来到机场", "歡迎來到機場"],
  ...[
    "Chào mừng bạn đến sân bay",
    "Καλώς ήρθατε στο αεροδρόμιο",
    "Բարի գալուստ",
    "კეთილი იყოს თქვენი მობრძანება",
    "خوش آمدید",
  ],
  ...[
    "ہوائی اڈے پر خوش آمدید",
    "বিমানবন্দরে স্বাগতম",
    "விமான நிலையத்திற்கு வரவேற்கிறோம்",
    "విమానాశ్రయానికి స్వాగతం",
    "വിമാനത്താവളത്തിലേക്ക് സ്വാഗതം",
  ],
  ...["ವಿಮಾನ ನಿಲ್ದಾಣಕ್ಕೆ ಸ್ವಾಗತ", "ગુજરાતી", "ਜੀ ਆਇਆਂ ਨੂੰ", "ආයුබෝවන්", "မင်္ဂလာပါ"],
  ...["សូមស្វាគមន៍", "ຍິນດີຕ້ອນຮັບ", "እንኳን ደህና መጡ", "ᠮᠣᠩᠭᠣᠯ", "བོད་ཡིག"],
  ...["Zażółć gęślą jaźń", "Příliš žluťoučký kůň", "Şişli’de ağaç", "Þjóðvegur", "Ĉiuj homoj"],
  ...["Ласкаво просимо", "Хуш омадед", "Sveiki atvykę – „čia“", "Benvingut a l·Ampolla", "🛫 👩‍👩‍👧 e\u0301"],
] as const;

type Cues = readonly (readonly [startMs: number, endMs: number, text: string])[];
const CUES: Cues = TEXTS.map((text, at) => [at * 130 + 1, at * 130 + 121, text]);
/** The cues in scripts of the packaged fonts. */
const DRAWN: Cues = CUES.filter(([, , text]) => /^[\P{L}\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}\p{sc=Arab}]*$/u.test(text));
/** Captions inside of video have a character set of their own. */
const CAPTION = "HI & <YOU>";

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** SubRip has invisible characters in text that looks like tags. */
const plain = (text: string): string =>
  text.replaceAll("\u2060", "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 23);
const ass = (cues: Cues): string =>
  [
    "[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\nFormat: Name, Fontname, Fontsize\nStyle: Default,Arial,16\n",
    "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text",
    ...cues.map(
      ([from, to, text]) => `Dialogue: 0,${clock(from).slice(1, -1)},${clock(to).slice(1, -1)},Default,,0,0,0,,${text}`,
    ),
  ].join("\n");
const ttml = (cues: Cues): string =>
  `<tt xmlns="http://www.w3.org/ns/ttml"><body><div>${cues
    .map(([from, to, text]) => `<p begin="${clock(from)}" end="${clock(to)}">${escaped(text)}</p>`)
    .join("")}</div></body></tt>`;
const vtt = (cues: Cues): string =>
  `WEBVTT\n\n${cues.map(([from, to, text]) => `${clock(from)} --> ${clock(to)} line:0\n${escaped(text)}`).join("\n\n")}\n`;
const pairs = pairsByFrame([
  [0, [...twice(0x1420), ...twice(0x1470), ...lettersOf(CAPTION)]],
  [30, twice(0x142f)],
  [90, twice(0x142c)],
]);
const hex = (codes: readonly (readonly number[])[]): string =>
  codes.map((pair) => pair.map((byte) => byte.toString(16).padStart(2, "0")).join("")).join(" ");
const SCC = `Scenarist_SCC V1.0\n\n00:00:00;00\t${hex(pairs.slice(0, 9))}\n\n00:00:01;00\t942f\n\n00:00:03;00\t942c\n`;
const FILES: Readonly<Record<string, string>> = {
  "/a.vtt": vtt(CUES),
  "/a.srt": subRip(CUES),
  "/a.ass": ass(CUES),
  "/a.ttml": ttml(CUES),
  "/a.scc": SCC,
  "/drawn.vtt": vtt(DRAWN),
  "/drawn.srt": subRip(DRAWN),
  "/drawn.ass": ass(DRAWN),
  "/drawn.ttml": ttml(DRAWN),
};

/** Times of frames at 30000/1001 frames per second. */
const CAPTION_CUES: Cues = [[1001, 3003, CAPTION]];

/** Cues that start while others are shown, together with others, and inside of others. */
const OVERLAPPING: Cues = [
  [500, 2500, "One"],
  [1000, 3000, "Two"],
  [1000, 2000, "Three"],
  [3500, 4000, "Four"],
];

/** MP4 has a single text at a time. */
const SEPARATE: Cues = [
  [500, 1000, "One"],
  [1000, 2000, "One\nTwo\nThree"],
  [2000, 2500, "One\nTwo"],
  [2500, 3000, "Two"],
  [3500, 4000, "Four"],
];

type Texts = Awaited<ReturnType<SubtitleJobs["textsIn"]>>;
/** `drawn`: the same kind of text in scripts of the packaged fonts. */
type Source = readonly [
  name: string,
  clip: string,
  from: string | number,
  cues: Cues,
  toleranceMs: number,
  drawn: string | number,
];
const SOURCES: readonly Source[] = [
  ["WebVTT", "tracks.mkv", "/a.vtt", CUES, 1, "/drawn.vtt"],
  ["SubRip", "tracks.mkv", "/a.srt", CUES, 1, "/drawn.srt"],
  ["ASS", "tracks.mkv", "/a.ass", CUES, 10, "/drawn.ass"],
  ["TTML", "tracks.mkv", "/a.ttml", CUES, 1, "/drawn.ttml"],
  ["SCC", "tracks.mkv", "/a.scc", CAPTION_CUES, 1, "/a.scc"],
  ["SubRip in Matroska", "tracks.mkv", 1, CUES, 1, 4],
  ["ASS in Matroska", "tracks.mkv", 2, CUES, 10, 5],
  ["CEA-608", "tracks.mkv", "cc1", CAPTION_CUES, 1, "cc1"],
  ["overlapping cues", "tracks.mkv", 3, OVERLAPPING, 1, 3],
  ["text in MP4", "text.mp4", 1, CUES, 1, 2],
  ["WebVTT in WebM", "text.webm", 1, CUES, 1, 2],
];
const CLIPS = ["tracks.mkv", "text.mp4", "text.webm"];
const sourcesOf = (clip: string): readonly Source[] => SOURCES.filter(([, name]) => name === clip);
/** The outputs before those with a single text. */
const FILE_OUTPUTS = ["mp4:32x18", "mkv:32x18", "webm:32x18"];

let jobs: SubtitleJobs;
const encodedByClip = new Map<string, Encoded>();
/** Texts of the files of a clip, by extension. */
const filesOf = new Map<string, ReadonlyMap<string, Texts>>();
beforeAll(async () => {
  const { origin } = await serve((request, response) => response.end(FILES[request.url ?? ""]));
  jobs = await openSubtitleJobs();
  await captionFrames(openWorkshop(jobs.folder), [pairs, []], { fps: "30000/1001", seconds: 6 });
  await jobs.write("a.srt", subRip(CUES));
  await jobs.write("a.ass", ass(CUES));
  await jobs.write("overlapping.srt", subRip(OVERLAPPING));
  await jobs.write("a.vtt", vtt(CUES));
  await jobs.write("drawn.srt", subRip(DRAWN));
  await jobs.write("drawn.ass", ass(DRAWN));
  await jobs.write("drawn.vtt", vtt(DRAWN));
  await jobs.make(
    "tracks.mkv",
    "-r 30000/1001 -i captioned.h264 -i a.srt -i a.ass -i overlapping.srt -i drawn.srt -i drawn.ass -map 0 -map 1 -map 2 -map 3 -map 4 -map 5 -c copy -c:v libx264 -bf 0 -preset ultrafast",
  );
  await jobs.make("text.mp4", "-i tracks.mkv -map 0:v -map 0:s:0 -map 0:s:3 -c copy -c:s mov_text");
  await jobs.make(
    "text.webm",
    "-i tracks.mkv -i a.vtt -i drawn.vtt -map 0:v -map 1 -map 2 -c:v libvpx -cpu-used 8 -deadline realtime -s 32x18 -c:s copy",
  );
  for (const clip of CLIPS) {
    const textOf = (from: string | number): { url: string } | { from: string | number } =>
      typeof from === "string" && from.startsWith("/") ? { url: `${origin}${from}` } : { from };
    const texts = sourcesOf(clip).map(([name, , from, , , drawn]) => {
      const source = textOf(from);
      return { source, drawn: textOf(drawn), track: { ...source, name, language: "en" } };
    });
    const subtitles = texts.map(({ track }) => track);
    const encoded = await jobs.encode(clip, [
      { format: "httpstream", params: { hls: { path: "h" }, variants: ["mp4:32x18"], subtitles } },
      ...FILE_OUTPUTS.map((format) => ({ format, params: { subtitles } })),
      ...texts.flatMap(({ source, drawn }) => [
        { format: "vtt", params: source },
        { format: "srt", params: source },
        { format: "png:96x54", params: { offsets: [2.05, 5.9], burn: { ...drawn, keep_style: false, size: 20 } } },
      ]),
    ]);
    expect(encoded.reports.map((report) => [report.status, "failure" in report && report.failure])).toEqual(
      encoded.reports.map(() => ["made", false]),
    );
    encodedByClip.set(clip, encoded);
    const read = FILE_OUTPUTS.map(async (format, at): Promise<[string, Texts]> => {
      const [extension = ""] = format.split(":");
      return [extension, await jobs.textsIn(encoded.storage, at + 1, extension)];
    });
    filesOf.set(clip, new Map(await Promise.all(read)));
  }
});
afterAll(async () => {
  closeServers();
  await jobs.close();
});

const encodedOf = (clip: string): Encoded => {
  const encoded = encodedByClip.get(clip);
  if (!encoded) throw new Error(`${clip} was not encoded`);
  return encoded;
};

function expectSame(actual: Cues, cues: Cues, toleranceMs: number): void {
  expect(actual.map(([, , text]) => plain(text))).toEqual(cues.map(([, , text]) => text));
  const differences = actual.map(([start, end], at) =>
    Math.max(Math.abs(start - (cues[at]?.[0] ?? 0)), Math.abs(end - (cues[at]?.[1] ?? 0))),
  );
  expect(Math.max(...differences)).toBeLessThanOrEqual(toleranceMs);
}

describe.each(SOURCES)("%s", (name, clip, _from, cues, toleranceMs) => {
  const at = sourcesOf(clip).findIndex(([other]) => other === name);
  const first = 1 + FILE_OUTPUTS.length + 3 * at;

  it("keeps times and text in HLS", () => {
    const segment = objectIn(encodedOf(clip).storage, new RegExp(`subtitles-${at + 1}/00001\\.vtt$`));
    expectSame(cuesIn(segment), cues, toleranceMs);
  });

  it.each(["mp4", "mkv", "webm"])("keeps times and text in %s", (extension) => {
    const expected = extension === "mp4" && cues === OVERLAPPING ? SEPARATE : cues;
    expectSame(filesOf.get(clip)?.get(extension)?.[at]?.[3] ?? [], expected, toleranceMs);
  });

  it("keeps times and text in WebVTT and SubRip", () => {
    const { storage } = encodedOf(clip);
    expectSame(cuesIn(objectIn(storage, new RegExp(`^${first}\\.1$`))), cues, toleranceMs);
    const srt = objectIn(storage, new RegExp(`^${first + 1}\\.1$`));
    expect(srt).not.toMatch(/&(?:amp|lt|gt);/);
    expectSame(cuesIn(`WEBVTT\n\n${srt}`), cues, toleranceMs);
  });

  it("is drawn into frames at its times", () => {
    const { objects } = encodedOf(clip).storage;
    const [during, later] = [1, 2].map((number) => objects.get(`${first + 2}.${number}`)?.length ?? 0);
    expect(during).toBeGreaterThan((later ?? 0) + 100);
  });
});
