// A tiny model of Whisper for tests, in whisper.cpp's format: it hears the same sentences in every half minute of
// audio, five seconds for each.
import { writeFile } from "node:fs/promises";

/** Tokens of the multilingual models (whisper.cpp, whisper_vocab). */
const WORDS = 50_257;
const TOKENS = 51_865;
const [END, START, TIME_0] = [50_257, 50_258, 50_364];
const LANGUAGE_EN = START + 1;
/** Timestamps count in 20 ms. */
const FIVE_SECONDS = 250;
const FIRST_WORD = 1000;
/** The models have no other way to suppress blanks. */
const BLANK = 220;

const WIDTH = 64;
const [AUDIO_CONTEXT, TEXT_CONTEXT, LAYERS, MELS, FREQUENCIES] = [1500, 448, 4, 80, 201];
const MAGIC = 0x67676d6c;

/**
 * All weights are 0, except for the embeddings of positions and tokens: position k of the text has the token k as its
 * next token. whisper.cpp's `whisper_model_load` reads the file.
 */
export async function writeSpokenModel(path: string, sentences: readonly string[]): Promise<void> {
  const words = sentences.flatMap((sentence) => sentence.split(" "));
  const parts: Uint8Array[] = [];
  const integers = (...values: number[]): void => void parts.push(new Uint8Array(Int32Array.from(values).buffer));
  const tensor = (name: string, shape: readonly number[], values?: Float32Array): void => {
    integers(shape.length, name.length, 0, ...shape);
    const size = shape.reduce((product, side) => product * side, 1);
    parts.push(Buffer.from(name), new Uint8Array((values ?? new Float32Array(size)).buffer));
  };
  const layer = (name: string, attentions: readonly string[]): void => {
    for (const norm of ["mlp_ln", ...attentions.map((each) => `${each}_ln`)]) {
      for (const kind of ["weight", "bias"]) tensor(`${name}.${norm}.${kind}`, [WIDTH]);
    }
    tensor(`${name}.mlp.0.weight`, [WIDTH, 4 * WIDTH]);
    tensor(`${name}.mlp.0.bias`, [4 * WIDTH]);
    tensor(`${name}.mlp.2.weight`, [4 * WIDTH, WIDTH]);
    tensor(`${name}.mlp.2.bias`, [WIDTH]);
    for (const each of attentions) {
      for (const matrix of ["query", "key", "value", "out"]) {
        tensor(`${name}.${each}.${matrix}.weight`, [WIDTH, WIDTH]);
        if (matrix !== "key") tensor(`${name}.${each}.${matrix}.bias`, [WIDTH]);
      }
    }
  };

  integers(MAGIC, TOKENS, AUDIO_CONTEXT, WIDTH, 1, LAYERS, TEXT_CONTEXT, WIDTH, 1, LAYERS, MELS, 0);
  integers(MELS, FREQUENCIES);
  parts.push(new Uint8Array(4 * MELS * FREQUENCIES));
  integers(WORDS);
  for (let token = 0; token < WORDS; token++) {
    const spoken = words[token - FIRST_WORD];
    const text = Buffer.from(spoken === undefined ? (token === BLANK ? " " : `t${token}`) : ` ${spoken}`);
    integers(text.length);
    parts.push(text);
  }
  tensor("encoder.positional_embedding", [WIDTH, AUDIO_CONTEXT]);
  tensor("encoder.conv1.weight", [3, MELS, WIDTH]);
  tensor("encoder.conv1.bias", [1, WIDTH]);
  tensor("encoder.conv2.weight", [3, WIDTH, WIDTH]);
  tensor("encoder.conv2.bias", [1, WIDTH]);
  tensor("encoder.ln_post.weight", [WIDTH]);
  tensor("encoder.ln_post.bias", [WIDTH]);
  for (let at = 0; at < LAYERS; at++) layer(`encoder.blocks.${at}`, ["attn"]);
  tensor("decoder.positional_embedding", [WIDTH, TEXT_CONTEXT], positions());
  tensor("decoder.token_embedding.weight", [WIDTH, TOKENS], nextTokens(sentences));
  tensor("decoder.ln.weight", [WIDTH], new Float32Array(WIDTH).fill(1));
  tensor("decoder.ln.bias", [WIDTH]);
  for (let at = 0; at < LAYERS; at++) layer(`decoder.blocks.${at}`, ["attn", "cross_attn"]);
  await writeFile(path, Buffer.concat(parts), { mode: 0o644 });
}

function positions(): Float32Array {
  const values = new Float32Array(WIDTH * TEXT_CONTEXT);
  for (let at = 0; at < TEXT_CONTEXT; at++) values[at * WIDTH + Math.min(at, WIDTH - 1)] = 1000;
  return values;
}

/** The text starts after the start, the language and the task. A pair of timestamps ends a segment. */
function nextTokens(sentences: readonly string[]): Float32Array {
  const next = [LANGUAGE_EN, 0, TIME_0];
  let word = FIRST_WORD;
  for (const [at, sentence] of sentences.entries()) {
    const time = TIME_0 + (at + 1) * FIVE_SECONDS;
    next.push(...sentence.split(" ").map(() => word++), time, time);
  }
  const values = new Float32Array(WIDTH * TOKENS);
  for (let at = 0; at < WIDTH; at++) if (at !== 1) values[(next[at] ?? END) * WIDTH + at] = 5;
  return values;
}
