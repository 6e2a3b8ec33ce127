// Twelve sentences of a synthetic voice, with the model that COPRA_TEST_SPEECH names. Needs an ffmpeg with flite, such
// as Debian's: FFMPEG_PATH=/usr/bin/ffmpeg FFPROBE_PATH=/usr/bin/ffprobe.
import { expect, it } from "vitest";
import { runCommand } from "../ffmpeg/run-command.ts";
import { cuesIn, objectIn, openSubtitleJobs } from "../testing/jobs/subtitle-jobs.ts";
import { silentLog } from "../testing/silent-log.ts";
import { tools } from "../testing/task-deps.ts";
import { openEngine } from "./engine.ts";

const MODEL = process.env.COPRA_TEST_SPEECH ?? "";
const EVERY_MS = 6000;
const SENTENCES = [
  ...[
    "The birds fly south in winter.",
    "She opened the window and looked outside.",
    "Please close the door behind you.",
  ],
  ...[
    "We bought bread and milk this morning.",
    "The train leaves in ten minutes.",
    "He wrote a long letter to his sister.",
  ],
  ...["It rained all night and the river rose.", "Children were playing in the garden.", "I forgot my keys at home."],
  ...[
    "The old bridge crosses the valley.",
    "Nobody knew the answer to the question.",
    "Good night and thank you for listening.",
  ],
];
const wordsIn = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? [];

it.skipIf(MODEL === "")("recognizes twelve sentences, with their times to the second", async () => {
  const jobs = await openSubtitleJobs();
  try {
    const voices = SENTENCES.flatMap((text) => [
      ...["-f", "lavfi", "-i", `flite=text='${text.replace(".", "")}',apad=whole_dur=${EVERY_MS / 1000}`],
    ]);
    const joined = ["-filter_complex", `concat=n=${SENTENCES.length}:v=0:a=1`, "-c:a", "flac", "voice.mkv"];
    const argv = ["-v", "error", "-nostdin", ...voices, ...joined];
    const result = await runCommand({ path: tools.ffmpeg.path, argv, cwd: jobs.folder, stallMs: 60_000 });
    expect(result).toEqual({ ok: true });
    const speech = await openEngine(MODEL, jobs.folder, silentLog);
    const outputs = [{ format: "vtt", params: { from: "speech", language: "en" } }];
    const { storage } = await jobs.encode("voice.mkv", outputs, { speech });
    const cues = cuesIn(objectIn(storage, /^0\.1$/));
    const heard = SENTENCES.flatMap((sentence, at) => {
      const near = cues.filter(([start, end]) => end > at * EVERY_MS - 1000 && start < (at + 1) * EVERY_MS + 1000);
      const words = new Set(near.flatMap(([, , text]) => wordsIn(text)));
      return wordsIn(sentence).map((word) => words.has(word));
    });
    expect(heard.filter(Boolean).length / heard.length).toBeGreaterThanOrEqual(0.9);
  } finally {
    await jobs.close();
  }
});
