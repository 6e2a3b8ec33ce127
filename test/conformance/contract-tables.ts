// The rows of the contract: tables, endpoints, events and sentences in docs/contract.txt and docs/api-v2.md.
import { readFileSync } from "node:fs";

export type Row = {
  /** `<heading> › <name>`. */
  readonly id: string;
  readonly heading: string;
  readonly name: string;
  /** The cells by column title; empty for rows that are not from a table. */
  readonly cells: Readonly<Record<string, string>>;
};

const read = (name: string): string[] =>
  readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8").split("\n");

/** All rows, in the order of the documents. */
export function promisedRows(): Row[] {
  const contract = read("contract.txt");
  const api = read("api-v2.md");
  return [
    ...tableRows(contract),
    ...endpointRows(contract),
    ...errorRows(api),
    ...eventRows(api),
    ...tableRows(api).filter(({ heading }) => heading === "5. Output parameters"),
    ...GUIDES.flatMap(fieldRows),
    ...sentenceRows(contract),
    ...read("../README.md").flatMap((line) => (line.includes(INDEPENDENT) ? [row("README", INDEPENDENT)] : [])),
  ];
}

/** A sentence of the README. The contract has only "at least one failed process". */
const INDEPENDENT = "A failed output does not affect the others.";

/** Pages with the fields of parameters that api-v2 §5 names. */
const GUIDES = ["audio-tracks.md", "captions.md", "burned-in-captions.md", "overlays.md", "loudness.md"];

/** The first table of a page, under the title of the page. */
function fieldRows(name: string): Row[] {
  const lines = read(name);
  const next = lines.findIndex((line) => line.startsWith("## "));
  return tableRows(lines.slice(0, next));
}

const row = (heading: string, name: string, cells: Record<string, string> = {}): Row => ({
  id: `${heading} › ${name}`,
  heading,
  name,
  cells,
});

const cellsOf = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

const isRule = (line: string | undefined): boolean => /^\|[ |:-]+$/.test(line ?? "");

/** The rows of all tables. The line above a line of dashes is a table's header. */
function tableRows(lines: readonly string[]): Row[] {
  const rows: Row[] = [];
  let heading = "";
  let titles: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
    if (!line.startsWith("|")) titles = [];
    else if (isRule(lines[at + 1])) titles = cellsOf(line);
    else if (!isRule(line)) {
      const cells = Object.fromEntries(cellsOf(line).map((cell, column) => [titles[column] ?? "", cell]));
      rows.push(row(heading, cells[titles[0] ?? ""] ?? "", cells));
    }
  }
  return rows;
}

/** The endpoints; each has its own heading. */
const endpointRows = (lines: readonly string[]): Row[] =>
  lines.flatMap((line) => {
    const endpoint = /^### ((?:GET|POST) \/v2\S*)/.exec(line)?.[1];
    return endpoint ? [row("Endpoints", endpoint)] : [];
  });

/** The error codes of api-v2 §2; some share a line. */
const errorRows = (lines: readonly string[]): Row[] =>
  tableRows(lines)
    .filter(({ heading }) => heading === "2. Error codes")
    .flatMap(({ heading, name, cells }) => {
      const statuses = (cells.HTTP ?? "").split(", ");
      return name.split(", ").map((entry, at) => {
        const HTTP = statuses[at] ?? statuses[0] ?? "";
        return row(heading, entry.replace(/ \[.*\]$/, ""), { ...cells, HTTP });
      });
    });

/** The events of api-v2 §9. */
function eventRows(lines: readonly string[]): Row[] {
  const text = lines.find((line) => line.startsWith("Events: ")) ?? "";
  return [...text.matchAll(/`((?:job|input|output)\.\w+)`/g)].map(([, event = ""]) => row("9. Notification", event));
}

/** Prefix of the headings of rows that are sentences. */
export const PROSE = "Text of ";

/** The sentences of the contract's text, except sentences that end with "not shown". */
function sentenceRows(lines: readonly string[]): Row[] {
  let heading = "";
  return lines.flatMap((line) => {
    if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
    if (line === "" || line.startsWith("#") || line.startsWith("|")) return [];
    const sentences = line.replace(/^(?:- |\d\. )/, "").split(/(?<=\.) (?=[A-Z`])/);
    return sentences.filter((text) => !text.endsWith(": not shown.")).map((text) => row(`${PROSE}${heading}`, text));
  });
}
