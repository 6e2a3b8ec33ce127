// How attempts and their parts look: a class, whose color and pattern the style sheet has, and a word.
import type { Bar, BarPart, BarState } from "../bars.ts";

/** What a part of a bar shows. */
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
  join: "joining",
};

/** A task that only reads its source, or only copies, has one look for all that it does before it stores. */
export function lookOf({ kind }: Pick<Bar, "kind">, part: Pick<BarPart, "stage"> | undefined): Look {
  if (part === undefined || part.stage === "encoding" || kind === "inspect") return OF_KIND[kind];
  return part.stage;
}

/** Endings, with their sign: colors are never alone. */
export const ENDINGS: Readonly<Record<Exclude<BarState, "running" | "completed">, { word: string; sign: string }>> = {
  lost: { word: "lost", sign: "✕" },
  failed: { word: "failed", sign: "✕" },
  returned: { word: "handed back", sign: "↩" },
  superseded: { word: "not needed", sign: "–" },
  cancelled: { word: "canceled", sign: "⊘" },
};

/** How an attempt ended, or that it runs. */
export const wordOf = (state: BarState): string =>
  state === "running" || state === "completed" ? state : ENDINGS[state].word;
