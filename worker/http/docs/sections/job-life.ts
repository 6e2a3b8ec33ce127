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
import { type Moves, nextOf, stateOf, statusFlow } from "../status-flow.ts";

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
