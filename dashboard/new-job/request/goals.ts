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
/** The service encodes videos and its ladder at this quality, and no size is larger than the source. */
const USUAL: Choice = { size: "", quality: 4 };
const AUDIO_RATES: Readonly<Record<number, string>> = { 2: "64k", 3: "96k", 4: "128k", 5: "192k" };

type Goal = {
  readonly label: string;
  readonly help: string;
  /** The outputs by kind of file, the usual kind first. */
  readonly kinds: Readonly<Record<string, (choice: Choice) => readonly NewOutput[]>>;
};

export const GOALS = {
  video: {
    label: "A video for the web",
    help: "MP4, plays everywhere",
    kinds: { MP4: (choice) => [{ format: videoFormat(choice), params: { path: "video.mp4" } }] },
  },
  stream: {
    label: "Streaming that adapts",
    help: "HLS and DASH: players choose among several sizes",
    kinds: {
      "HLS and DASH": (choice) => [
        {
          format: "httpstream",
          params: {
            path: "stream",
            hls: { path: "hls" },
            dash: { path: "dash", hlsfmp4: true },
            variants: variantsOf(ladder(choice)),
          },
        },
      ],
    },
  },
  pictures: {
    label: "Pictures",
    help: "a poster, five thumbnails, and a sheet for a seek bar",
    kinds: {
      JPEG: ({ size }) => [
        { format: withSlot("jpg", "size", size), params: { path: "poster.jpg" } },
        { format: "jpg:320x", params: { path: "thumbnail-%02d.jpg", number: 5 } },
        { format: "jpg:160x", params: { path: "seek-bar.jpg", interval: 0, sprite: true, vtt: true } },
      ],
    },
  },
  sound: {
    label: "Only the sound",
    help: "MP3 or M4A",
    kinds: { MP3: (choice) => [sound("mp3", choice)], M4A: (choice) => [sound("m4a", choice)] },
  },
  preview: {
    label: "A short preview",
    help: "three scenes as a moving picture, GIF or WebP",
    kinds: { GIF: () => [preview("gif", "gif")], WebP: () => [preview("webp_anim", "webp")] },
  },
} as const satisfies Readonly<Record<string, Goal>>;
export type GoalName = keyof typeof GOALS;
export const GOAL_NAMES = Object.keys(GOALS) as readonly GoalName[];
export const kindsOf = (goal: GoalName): Goal["kinds"] => GOALS[goal].kinds;

function videoFormat({ size, quality }: Choice): string {
  return withSlot(withSlot("mp4", "size", size), "rate", quality === USUAL.quality ? "" : `quality=${quality}`);
}

/** The service's ladder up to a size. A better quality raises the caps: most renditions reach them. */
function ladder({ size, quality }: Choice): readonly string[] {
  const height = (token: string): number => Number.parseInt(token, 10);
  // Audio has no height, and the source's size is no limit: NaN is not larger than anything.
  return DEFAULT_LADDER.filter((format) => !(height(slotOf(format, "size")) > height(size))).map((format) => {
    const cap = Number(/\d+/.exec(slotOf(format, "cap")));
    if (cap === 0) return format;
    const rated = withSlot(format, "rate", `quality=${quality}`);
    return quality > USUAL.quality ? withSlot(rated, "cap", `maxrate=${cap * 1.5}k`) : rated;
  });
}

const sound = (container: string, { quality }: Choice): NewOutput => ({
  format: withSlot(container, "audioRate", AUDIO_RATES[quality] ?? ""),
  params: { path: `sound.${container}` },
});

const preview = (container: string, extension: string): NewOutput => ({
  format: `${container}:320x`,
  params: { path: `preview.${extension}`, scene: { number: 3, duration: 1 } },
});

/** The chosen goals, each with its kind of file, and their size and quality. */
export type Wanted = { readonly choice: Choice; readonly kinds: Readonly<Partial<Record<GoalName, string>>> };

/** The outputs of a goal, of its usual kind by default. */
export function outputsOf(goal: GoalName, choice = USUAL, kind?: string): readonly NewOutput[] {
  const kinds = kindsOf(goal);
  return (kinds[kind ?? Object.keys(kinds)[0] ?? ""] ?? (() => []))(choice);
}

/** True if the chosen goals make other outputs with another size or quality. */
export const matters = ({ kinds }: Wanted, other: Partial<Choice>): boolean =>
  GOAL_NAMES.some(
    (goal) =>
      kinds[goal] !== undefined &&
      JSON.stringify(outputsOf(goal)) !== JSON.stringify(outputsOf(goal, { ...USUAL, ...other })),
  );

/** True if an output has the format and the parameters of a goal's output. Its path and further parameters are free. */
const isOutput = ({ format, params }: Output, output: NewOutput): boolean =>
  format === output.format &&
  Object.entries(output.params).every(
    ([name, value]) => name === "path" || JSON.stringify(valueAt(params, [name])) === JSON.stringify(value),
  );

type Part = { readonly goal: GoalName; readonly kind: string; readonly outputs: readonly Output[] };

/** The goals of this size and quality whose outputs are all in the list. */
const partsFor = (list: readonly Output[], choice: Choice): readonly Part[] =>
  GOAL_NAMES.flatMap((goal) =>
    Object.keys(kindsOf(goal))
      .flatMap((kind) => {
        const all = outputsOf(goal, choice, kind);
        const outputs = all.flatMap((output) => list.find((candidate) => isOutput(candidate, output)) ?? []);
        return outputs.length === all.length ? [{ goal, kind, outputs }] : [];
      })
      .slice(0, 1),
  );

const differences = ({ size, quality }: Choice): number =>
  Number(size !== USUAL.size) + Number(quality !== USUAL.quality);
/** All choices. The usual choice is first, because goals without a size or a quality fit several choices. */
const CHOICES: readonly Choice[] = Object.keys(SIZES)
  .flatMap((size) => QUALITIES.map((quality) => ({ size, quality })))
  .toSorted((one, other) => differences(one) - differences(other));

/** The goals in a list of outputs. `others`: outputs of no goal. */
export function goalsIn(
  list: readonly Output[],
): Wanted & { readonly parts: readonly Part[]; readonly others: readonly Output[] } {
  const readings = CHOICES.map((choice) => {
    const parts = partsFor(list, choice);
    const outputs = new Set(parts.flatMap((part) => part.outputs));
    return { choice, parts, others: list.filter((output) => !outputs.has(output)) };
  });
  const { choice, parts, others } = readings.reduce((best, reading) =>
    reading.others.length < best.others.length ? reading : best,
  );
  return { choice, parts, others, kinds: Object.fromEntries(parts.map(({ goal, kind }) => [goal, kind])) };
}

/** The list with the outputs of these goals. Outputs of no goal stay, and so do paths and further parameters. */
export function withGoals(list: readonly Output[], { choice, kinds }: Wanted): readonly Output[] {
  const { parts, others } = goalsIn(list);
  return GOAL_NAMES.reduce<readonly Output[]>((all, goal) => {
    const kind = kinds[goal];
    if (kind === undefined) return all;
    const before = parts.find((part) => part.goal === goal && part.kind === kind)?.outputs;
    return outputsOf(goal, choice, kind).reduce(
      (list, output, at) => withOutput(list, output, before?.[at]?.params),
      all,
    );
  }, others);
}
