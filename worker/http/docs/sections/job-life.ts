// The statuses of a job, its input and its outputs, from the tables of transitions.
import { INPUT_TABLE, JOB_TABLE } from "#shared/job/job-status.ts";
import {
  OUTPUT_STATUS,
  OUTPUT_TABLE,
  OUTPUT_TYPES,
  type OutputPhase,
  type OutputType,
} from "#shared/job/output-status.ts";
import {
  INPUT_STATUS_DESCRIPTIONS,
  JOB_STATUS_DESCRIPTIONS,
  OUTPUT_STATUS_DESCRIPTIONS,
} from "../../openapi/status-descriptions.ts";
import { code, codes, type Html, html, prose, section, table } from "../markup.ts";

const TITLES: Readonly<Record<OutputType, string>> = {
  video: "Video and audio",
  image: "Images",
  httpstream: "HTTP streams",
};

/** The transitions of an output by the statuses of its type; phases with the same status are merged. */
function outputMoves(type: OutputType): Moves {
  const names = OUTPUT_STATUS[type];
  const moves = new Map<string, Set<string>>();
  for (const [phase, row] of Object.entries(OUTPUT_TABLE)) {
    const from = names[phase as OutputPhase];
    const next = moves.get(from) ?? new Set<string>();
    for (const to of Object.values(row)) if (names[to] !== from) next.add(names[to]);
    moves.set(from, next);
  }
  return moves;
}

const plainMoves = (statuses: Readonly<Record<string, Readonly<Record<string, string>>>>): Moves =>
  new Map(Object.entries(statuses).map(([from, row]) => [from, new Set(Object.values(row))]));

export const jobLife = (): Html =>
  section(
    2,
    "job-life",
    "Job statuses",
    html`<p>A node fetches and probes the input, then nodes encode the outputs. An output that fails, or that is skipped because its
condition is false, does not affect the others. The job ends when all outputs have ended. A job that failed or was canceled
can be <a href="#retryJob">retried</a> for the outputs that it did not finish.</p>`,
    life("Job", plainMoves(JOB_TABLE), JOB_STATUS_DESCRIPTIONS),
    life("Input", plainMoves(INPUT_TABLE), INPUT_STATUS_DESCRIPTIONS),
    OUTPUT_TYPES.map((type) => life(TITLES[type], outputMoves(type), OUTPUT_STATUS_DESCRIPTIONS)),
  );

const life = (title: string, moves: Moves, descriptions: Readonly<Record<string, string>>): Html =>
  section(
    3,
    `life-${title.toLowerCase().replace(/\W+/g, "-")}`,
    title,
    statusFlow(title, moves),
    table(
      `Statuses: ${title}`,
      ["Status", "Description", "Next"],
      [...moves.keys()].map((status) => {
        const next = nextOf(moves, status);
        return [code(status), prose(descriptions[status] ?? ""), next.length > 0 ? codes(next.map(stateOf)) : "none"];
      }),
    ),
  );

// A diagram of statuses in HTML: intermediate statuses with arrows, then final statuses.

/** The possible next statuses of each status. */
type Moves = ReadonlyMap<string, ReadonlySet<string>>;

const nextOf = (moves: Moves, status: string): string[] => [...(moves.get(status) ?? [])];

/** True if a status is final: it has no next status, or only earlier statuses. */
function isFinal(moves: Moves, status: string): boolean {
  const order = [...moves.keys()];
  return nextOf(moves, status).every((next) => order.indexOf(next) < order.indexOf(status));
}

function statusFlow(title: string, moves: Moves): Html {
  const statuses = [...moves.keys()];
  const ends = statuses.filter((status) => isFinal(moves, status));
  const intermediate = statuses.filter((status) => !ends.includes(status));
  return html`<ol class="flow" aria-label="${title}: statuses in their order">
${intermediate.map((status) => html`<li><span class="status">${stateOf(status)}</span></li>`)}
<li class="ends">${ends.map((status) => html`<span class="status ${styleOf(status)}">${stateOf(status)}</span>`)}</li></ol>`;
}

/** The status without its scope, which is in the heading. */
const stateOf = (status: string): string => status.slice(status.indexOf(".") + 1);

/** The style of a final status. */
function styleOf(status: string): "good" | "bad" | "neutral" {
  if (status.endsWith(".failed")) return "bad";
  return /\.(?:skipped|aborted)$/.test(status) ? "neutral" : "good";
}
