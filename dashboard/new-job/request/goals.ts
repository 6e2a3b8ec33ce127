// Goals of people who know no codecs, and the outputs that each goal makes. Pure.
import { DEFAULT_LADDER } from "../../../shared/format/presets.ts";
import { valueAt } from "./edit.ts";
import { variantsOf } from "./ladder.ts";
import { type NewOutput, type Output, withOutput } from "./output-list.ts";
import { slotOf, withSlot } from "./slots.ts";

/** `size`: a preset; empty for the source's size. `quality`: a step of the service's `quality`. */
export type Choice = { readonly size: string; readonly quality: number };
export const SIZES = { "480p": "480p", "720p": "720p", "1080p": "1080p", "": "as the source" } as const;
export const QUALITIES = [2, 3, 4, 5] as const;
/** The service encodes videos and its ladder at this quality. No rendition of the ladder is larger than the source. */
const USUAL: Choice = { size: "", quality: 4 };
const AUDIO_RATES: Readonly<Record<number, string>> = { 2: "64k", 3: "96k", 4: "128k", 5: "192k" };

type Goal = {
  readonly label: string;
  readonly help: string;
  /** Kinds of files, the usual kind first. */
  readonly kinds: readonly [string, ...string[]];
  readonly outputs: (choice: Choice, kind: string) => readonly NewOutput[];
};
const GOAL_TABLE = {
  video: {
    label: "A video for the web",
    help: "MP4, plays everywhere",
    kinds: ["mp4"],
    outputs: (choice) => [{ format: videoFormat(choice), params: { path: "video.mp4" } }],
  },
  stream: {
    label: "Streaming that adapts",
    help: "HLS and DASH, in several sizes",
    kinds: ["hls and dash"],
    outputs: (choice) => {
      const packages = { hls: { path: "hls" }, dash: { path: "dash", hlsfmp4: true } };
      const params = { path: "stream", ...packages, variants: variantsOf(ladder(choice)), drop_larger_variants: true };
      return [{ format: "httpstream", params }];
    },
  },
  images: {
    label: "Images",
    help: "a poster, five thumbnails, and a sheet for a seek bar",
    kinds: ["jpg"],
    outputs: ({ size }) => [
      { format: withSlot("jpg", "size", size), params: { path: "poster.jpg" } },
      { format: "jpg:320x", params: { path: "thumbnail-%02d.jpg", number: 5 } },
      { format: "jpg:160x", params: { path: "seek-bar.jpg", interval: 0, sprite: true, vtt: true } },
    ],
  },
  audio: {
    label: "Only the audio",
    help: "MP3 or M4A",
    kinds: ["mp3", "m4a"],
    outputs: ({ quality }, kind) => [
      { format: withSlot(kind, "audioRate", AUDIO_RATES[quality] ?? ""), params: { path: `audio.${kind}` } },
    ],
  },
  preview: {
    label: "A short preview",
    help: "an animation of three scenes, GIF or WebP",
    kinds: ["gif", "webp"],
    outputs: (_, kind) => {
      const format = kind === "webp" ? "webp_anim:320x" : "gif:320x";
      return [{ format, params: { path: `preview.${kind}`, scene: { number: 3, duration: 1 } } }];
    },
  },
} as const satisfies Readonly<Record<string, Goal>>;
export type GoalName = keyof typeof GOAL_TABLE;
export const GOALS: Readonly<Record<GoalName, Goal>> = GOAL_TABLE;
export const GOAL_NAMES = Object.keys(GOALS) as readonly GoalName[];

/** Computed outputs: a search for the goals of a list needs all of them, which takes 30 ms. */
const computed = new Map<string, readonly NewOutput[]>();

/** The outputs of a goal; by default of its usual kind, size and quality. */
export function outputsOf(goal: GoalName, choice = USUAL, kind = GOALS[goal].kinds[0]): readonly NewOutput[] {
  const key = [goal, kind, choice.size, choice.quality].join(" ");
  const outputs = computed.get(key) ?? GOALS[goal].outputs(choice, kind);
  computed.set(key, outputs);
  return outputs;
}

function videoFormat({ size, quality }: Choice): string {
  return withSlot(withSlot("mp4", "size", size), "rate", quality === USUAL.quality ? "" : `quality=${quality}`);
}

/** The service's ladder up to a size. A better quality raises the caps, because most renditions reach them. */
function ladder({ size, quality }: Choice): readonly string[] {
  // Audio and the size of the source have no height: no number is larger than NaN.
  const height = (token: string): number => Number.parseInt(token, 10);
  return DEFAULT_LADDER.filter((format) => !(height(slotOf(format, "size")) > height(size))).map((format) => {
    const cap = Number(/\d+/.exec(slotOf(format, "cap")));
    if (cap === 0) return format;
    const cappedFormat = quality > USUAL.quality ? withSlot(format, "cap", `maxrate=${cap * 1.5}k`) : format;
    return withSlot(cappedFormat, "rate", `quality=${quality}`);
  });
}

/** The chosen goals, each with its kind of file, and the size and quality of all. */
export type Wanted = { readonly choice: Choice; readonly kinds: Readonly<Partial<Record<GoalName, string>>> };

/** True if another size or quality changes outputs of the chosen goals. */
export const matters = ({ kinds }: Wanted, other: Partial<Choice>): boolean =>
  GOAL_NAMES.filter((goal) => kinds[goal] !== undefined).some(
    (goal) => JSON.stringify(outputsOf(goal)) !== JSON.stringify(outputsOf(goal, { ...USUAL, ...other })),
  );

/** True if an output has the format and the parameters of a goal's output. Its path and further parameters are free. */
const isOutput = ({ format, params }: Output, output: NewOutput): boolean =>
  format === output.format &&
  Object.entries(output.params).every(
    ([name, value]) => name === "path" || JSON.stringify(valueAt(params, [name])) === JSON.stringify(value),
  );

/** The goals with this size and quality whose outputs are all in the list. */
const partsFor = (list: readonly Output[], choice: Choice) =>
  GOAL_NAMES.flatMap((goal) =>
    GOALS[goal].kinds
      .map((kind) => ({ goal, kind, all: outputsOf(goal, choice, kind) }))
      .map(({ all, ...part }) => ({
        ...part,
        outputs: all.map((output) => list.find((candidate) => isOutput(candidate, output))),
      }))
      .filter(({ outputs }) => !outputs.includes(undefined))
      .slice(0, 1),
  );

/** The usual size and quality are first, because goals without a size or a quality fit several choices. */
const CHOICES: readonly Choice[] = [USUAL.size, ...Object.keys(SIZES)].flatMap((size) =>
  [USUAL.quality, ...QUALITIES].map((quality) => ({ size, quality })),
);

/** The goals in a list of outputs. `parts`: their outputs; `others`: outputs of no goal. */
export function goalsIn(list: readonly Output[]) {
  const { choice, parts, others } = CHOICES.map((choice) => {
    const parts = partsFor(list, choice);
    const outputs = new Set(parts.flatMap((part) => part.outputs));
    return { choice, parts, others: list.filter((output) => !outputs.has(output)) };
  }).reduce((best, reading) => (reading.others.length < best.others.length ? reading : best));
  const kinds: Wanted["kinds"] = Object.fromEntries(parts.map(({ goal, kind }) => [goal, kind]));
  return { choice, parts, others, kinds };
}

/** The list with the outputs of these goals. Outputs of no goal stay, and so do paths and further parameters. */
export function withGoals(list: readonly Output[], { choice, kinds }: Wanted): readonly Output[] {
  const { parts, others } = goalsIn(list);
  const outputs = GOAL_NAMES.flatMap((goal) => {
    const kind = kinds[goal];
    const before = parts.find((part) => part.goal === goal && part.kind === kind)?.outputs;
    return kind === undefined
      ? []
      : outputsOf(goal, choice, kind).map((output, at) => ({ output, before: before?.[at]?.params }));
  });
  return outputs.reduce((all, { output, before }) => withOutput(all, output, before), others);
}
