// Engines of speech recognition for tests: the real one with a tiny model, and a stub in the real sandbox.
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openEngine, type SpeechEngine } from "../../speech/engine.ts";
import { silentLog } from "../silent-log.ts";
import { writeSpokenModel } from "./spoken-model.ts";

/** A stub returns segments, hears where loud audio starts, or runs code when it starts. */
type Behavior = {
  readonly segments?: unknown;
  /** The text of a segment that starts with the first loud sample, and ends with the last. */
  readonly hears?: string;
  readonly does?: string;
};

const STUB = `
exports.WhisperContext = class {
  constructor({ filePath }) {
    this.behavior = JSON.parse(require("node:fs").readFileSync(filePath, "utf8"));
    eval(this.behavior.does ?? "");
  }
  transcribeData(data, { language }) {
    const samples = new Int16Array(data);
    const isLoud = (sample) => Math.abs(sample) > 1000;
    const [first, last] = [samples.findIndex(isLoud), samples.findLastIndex(isLoud)];
    const heard = first < 0 ? [] : [{ text: this.behavior.hears + " " + language, t0: first / 16, t1: last / 16 }];
    const segments = this.behavior.hears ? heard : this.behavior.segments;
    return { promise: Promise.resolve({ segments, language: language === "auto" ? "en" : language }) };
  }
};`;

export async function stubEngine(parent: string, behavior: Behavior): Promise<SpeechEngine> {
  await mkdir(parent, { recursive: true });
  const folder = await realpath(await mkdtemp(join(parent, "engine-")));
  const engine = { model: join(folder, "stub.bin"), modelBytes: 0, addon: join(folder, "stub.cjs") };
  await writeFile(engine.addon, STUB, { mode: 0o644 });
  await writeFile(engine.model, JSON.stringify(behavior), { mode: 0o644 });
  return engine;
}

/** An engine that counts its runs. */
export function counted(engine: SpeechEngine): { readonly engine: SpeechEngine; runs(): number } {
  let runs = 0;
  const { model, modelBytes, addon } = engine;
  return {
    engine: {
      model,
      modelBytes,
      get addon() {
        runs += 1;
        return addon;
      },
    },
    runs: () => runs,
  };
}

/** whisper.cpp with a model that hears these sentences (spoken-model.ts). */
export async function realEngine(folder: string, sentences: readonly string[]): Promise<SpeechEngine> {
  const model = join(folder, "ggml-spoken.bin");
  await writeSpokenModel(model, sentences);
  return openEngine(model, folder, silentLog);
}
