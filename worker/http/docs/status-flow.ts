// A picture of statuses in text: those on the way, with arrows between, then those that end it.
import { type Html, html } from "./markup.ts";

/** What each status can become. */
export type Moves = ReadonlyMap<string, ReadonlySet<string>>;

export const nextOf = (moves: Moves, status: string): string[] => [...(moves.get(status) ?? [])];

/** Whether a status ends the way: it becomes nothing, or only what comes before it. */
function isEnd(moves: Moves, status: string): boolean {
  const order = [...moves.keys()];
  return nextOf(moves, status).every((next) => order.indexOf(next) < order.indexOf(status));
}

export function statusFlow(title: string, moves: Moves): Html {
  const statuses = [...moves.keys()];
  const ends = statuses.filter((status) => isEnd(moves, status));
  const way = statuses.filter((status) => !ends.includes(status));
  return html`<ol class="flow" aria-label="${title}: statuses in their order">
${way.map((status) => html`<li><span class="status">${stateOf(status)}</span></li>`)}
<li class="ends">${ends.map((status) => html`<span class="status ${mood(status)}">${stateOf(status)}</span>`)}</li></ol>`;
}

/** Without the scope in front, which the heading says. */
export const stateOf = (status: string): string => status.slice(status.indexOf(".") + 1);

/** How an end is to look. */
function mood(status: string): "good" | "bad" | "neutral" {
  if (status.endsWith(".failed")) return "bad";
  return /\.(?:skipped|aborted)$/.test(status) ? "neutral" : "good";
}
