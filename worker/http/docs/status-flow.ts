// A diagram of statuses in HTML: intermediate statuses with arrows, then final ones.
import { type Html, html } from "./markup.ts";

/** The possible next statuses of each status. */
export type Moves = ReadonlyMap<string, ReadonlySet<string>>;

export const nextOf = (moves: Moves, status: string): string[] => [...(moves.get(status) ?? [])];

/** Whether a status is final: it has no next status, or only earlier ones. */
function isFinal(moves: Moves, status: string): boolean {
  const order = [...moves.keys()];
  return nextOf(moves, status).every((next) => order.indexOf(next) < order.indexOf(status));
}

export function statusFlow(title: string, moves: Moves): Html {
  const statuses = [...moves.keys()];
  const ends = statuses.filter((status) => isFinal(moves, status));
  const intermediate = statuses.filter((status) => !ends.includes(status));
  return html`<ol class="flow" aria-label="${title}: statuses in their order">
${intermediate.map((status) => html`<li><span class="status">${stateOf(status)}</span></li>`)}
<li class="ends">${ends.map((status) => html`<span class="status ${styleOf(status)}">${stateOf(status)}</span>`)}</li></ol>`;
}

/** The status without its scope, which the heading has. */
export const stateOf = (status: string): string => status.slice(status.indexOf(".") + 1);

/** The style of a final status. */
function styleOf(status: string): "good" | "bad" | "neutral" {
  if (status.endsWith(".failed")) return "bad";
  return /\.(?:skipped|aborted)$/.test(status) ? "neutral" : "good";
}
