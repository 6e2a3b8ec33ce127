// The statuses of a job, its input and its outputs, drawn from the tables that they move by.
import { INPUT_TABLE, JOB_TABLE } from "#shared/job/job-status.ts";
import {
  OUTPUT_STATUS,
  OUTPUT_TABLE,
  OUTPUT_TYPES,
  type OutputPhase,
  type OutputType,
} from "#shared/job/output-status.ts";
import { INPUT_STATUS_MEANINGS, JOB_STATUS_MEANINGS, OUTPUT_STATUS_MEANINGS } from "../../openapi/status-meanings.ts";
import { code, codes, type Html, html, prose, section, table } from "../markup.ts";
import { type Moves, nextOf, stateOf, statusFlow } from "../status-flow.ts";

const TITLES: Readonly<Record<OutputType, string>> = {
  video: "Video, and sound alone",
  image: "Images",
  httpstream: "HTTP streams",
};

/** The moves of an output in the words of its type; phases that share a word are one status. */
function outputMoves(type: OutputType): Moves {
  const words = OUTPUT_STATUS[type];
  const moves = new Map<string, Set<string>>();
  for (const [phase, row] of Object.entries(OUTPUT_TABLE)) {
    const from = words[phase as OutputPhase];
    const next = moves.get(from) ?? new Set<string>();
    for (const to of Object.values(row)) if (words[to] !== from) next.add(words[to]);
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
    "The life of a job",
    html`<p>A node fetches the input and probes it; the outputs follow, each as far as it gets. An output that fails, or that is
skipped because its condition is false, leaves the others as they are. When all have ended, so has the job. A job that
failed or was cancelled can be <a href="#retryJob">begun anew</a> for what it did not finish.</p>`,
    life("The job", plainMoves(JOB_TABLE), JOB_STATUS_MEANINGS),
    life("Its input", plainMoves(INPUT_TABLE), INPUT_STATUS_MEANINGS),
    OUTPUT_TYPES.map((type) => life(TITLES[type], outputMoves(type), OUTPUT_STATUS_MEANINGS)),
  );

const life = (title: string, moves: Moves, meanings: Readonly<Record<string, string>>): Html =>
  section(
    3,
    `life-${title.toLowerCase().replace(/\W+/g, "-")}`,
    title,
    statusFlow(title, moves),
    table(
      `Statuses: ${title}`,
      ["Status", "Meaning", "Can become"],
      [...moves.keys()].map((status) => {
        const next = nextOf(moves, status);
        return [
          code(status),
          prose(meanings[status] ?? ""),
          next.length > 0 ? codes(next.map(stateOf)) : "nothing else",
        ];
      }),
    ),
  );
