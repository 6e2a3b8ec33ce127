// The phases of a job as a whole: waiting for a node, inspecting, encoding, joining. Pure.
import { type Bar, endOf } from "./bars.ts";

export type PhaseName = "waiting" | "inspecting" | "encoding" | "joining";
export type Phase = { readonly name: PhaseName; readonly fromMs: number; readonly toMs: number };

const PHASES: Readonly<Record<Bar["kind"], PhaseName>> = {
  inspect: "inspecting",
  encode: "encoding",
  audio: "encoding",
  texts: "encoding",
  chunk: "encoding",
  join: "joining",
};
const ORDER: readonly PhaseName[] = ["inspecting", "encoding", "joining"];

/**
 * The phases in the order of time, from the creation of the job (`createdMs`), without earlier starts of the job. A
 * phase ends where the next phase starts.
 */
export function phasesOf(bars: readonly Bar[], createdMs: number, nowMs: number): Phase[] {
  const current = bars.filter(({ isEarlier }) => !isEarlier);
  const phases = ORDER.flatMap((name): Phase[] => {
    const ofPhase = current.filter(({ kind }) => PHASES[kind] === name);
    if (ofPhase.length === 0) return [];
    const toMs = Math.max(...ofPhase.map((bar) => endOf(bar, nowMs)));
    return [{ name, fromMs: Math.min(...ofPhase.map(({ fromMs }) => fromMs)), toMs }];
  });
  const first = phases[0]?.fromMs ?? nowMs;
  // A retried job has not waited since its creation.
  const isFirstStart = bars.length === current.length;
  const waiting: Phase = { name: "waiting", fromMs: createdMs, toMs: first };
  const all = isFirstStart && first > createdMs ? [waiting, ...phases] : phases;
  return all.map((phase, at) => ({ ...phase, toMs: all[at + 1]?.fromMs ?? phase.toMs }));
}
