// The looks of attempts and their stages: a class and a word. The style sheet has the class's color and pattern.
import type { Bar, BarPart, BarState } from "./bars.ts";

/** The kinds of work that a part of a bar shows. */
export type Look = "transferring" | "inspecting" | "encoding" | "audio" | "joining" | "uploading";

export const LOOKS: Readonly<Record<Look, string>> = {
  inspecting: "inspecting",
  transferring: "reading the source",
  encoding: "encoding",
  audio: "encoding audio",
  joining: "joining",
  uploading: "storing",
};

const OF_KIND: Readonly<Record<Bar["kind"], Look>> = {
  inspect: "inspecting",
  encode: "encoding",
  chunk: "encoding",
  audio: "audio",
  texts: "transferring",
  join: "joining",
};

/** The look of a part of a bar. A task that only reads or copies its source has a single look until it uploads. */
export function lookOf({ kind }: Pick<Bar, "kind">, { stage }: Pick<BarPart, "stage">): Look {
  if (stage === "encoding" || kind === "inspect") return OF_KIND[kind];
  return stage === "holding" ? "uploading" : stage;
}

/** The parts of a bar. A bar without known stages is drawn as its main work. */
export const drawnParts = ({ parts, fromMs, toMs }: Bar): readonly BarPart[] =>
  parts.length > 0 ? parts : [{ stage: "encoding", fromMs, toMs }];

/** Outcomes of attempts. Each has a sign, because color is never the only mark. */
export const ENDINGS: Readonly<Record<Exclude<BarState, "running" | "completed">, { word: string; sign: string }>> = {
  lost: { word: "lost", sign: "✕" },
  failed: { word: "failed", sign: "✕" },
  returned: { word: "handed back", sign: "↩" },
  superseded: { word: "not needed", sign: "–" },
  cancelled: { word: "canceled", sign: "⊘" },
};

/** The outcome of an attempt, or "running". */
export const wordOf = (state: BarState): string =>
  state === "running" || state === "completed" ? state : ENDINGS[state].word;
