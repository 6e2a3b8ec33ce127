// A helper program in the sandbox (engine.ts): recognizes the speech in a file of samples (s16le, mono, 16 kHz), and
// writes the segments to a file. Arguments: the addon of whisper.cpp, the model, the samples, the language or `auto`,
// the number of threads, and the file to write. Ends with an error if the engine fails.
import { open, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** Times are in ms. */
type Segment = { readonly text: string; readonly t0: number; readonly t1: number };
type Transcript = { readonly segments: readonly Segment[]; readonly language?: string };
type Options = { readonly language: string; readonly maxThreads: number };
type Engine = { transcribeData(samples: ArrayBuffer, options: Options): { readonly promise: Promise<Transcript> } };
type Addon = { WhisperContext: new (options: { filePath: string; useGpu: boolean }) => Engine };

const SAMPLES_PER_MS = 16;
const BYTES = 2;
/** 5 minutes: the engine holds a block in memory as 32-bit samples, and finds the limits of sentences by itself. */
const BLOCK = 300_000 * SAMPLES_PER_MS;

const [addonPath = "", model = "", path = "", language = "", threads = "", result = ""] = process.argv.slice(2);
const { WhisperContext }: Addon = createRequire(import.meta.url)(addonPath);
const engine = new WhisperContext({ filePath: model, useGpu: false });
const file = await open(path);
const total = Math.floor((await file.stat()).size / BYTES);
const segments: Segment[] = [];
let spoken = language;

for (let from = 0; from < total; ) {
  const samples = new Int16Array(Math.min(BLOCK, total - from));
  await file.read(new Uint8Array(samples.buffer), 0, samples.byteLength, from * BYTES);
  // The addon never settles the promise of a run that fails: Node then ends this program with code 13.
  const options = { language: spoken, maxThreads: Number(threads) };
  const transcript = await engine.transcribeData(samples.buffer, options).promise;
  spoken = transcript.language || spoken;
  // The end of a block may be in the middle of a word: the next block starts with the last segment.
  const end = from + samples.length;
  const last = transcript.segments.at(-1);
  const again = end < total && last ? from + Math.round(last.t0) * SAMPLES_PER_MS : end;
  const isCarried = again > from + BLOCK / 2 && again < end;
  const fromMs = from / SAMPLES_PER_MS;
  const endMs = end / SAMPLES_PER_MS;
  for (const { text, t0, t1 } of isCarried ? transcript.segments.slice(0, -1) : transcript.segments) {
    // Models also write text for the silence with which they fill their last half minute.
    if (t0 + fromMs < endMs) segments.push({ text, t0: t0 + fromMs, t1: Math.min(t1 + fromMs, endMs) });
  }
  from = isCarried ? again : end;
}
await writeFile(result, JSON.stringify({ language: spoken, segments }));
// Without the engine's destructors, which wait for its threads.
process.exit(0);
