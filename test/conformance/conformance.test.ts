// Checks every row of the contract, and that docs/conformance.md lists the checks.
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileFolder } from "../fixtures.ts";
import { startSourceServer } from "../services/source-server.ts";
import { startWebhookReceiver } from "../services/webhook-receiver.ts";
import { sharedStack } from "../stack.ts";
import { promisedRows } from "./contract-tables.ts";
import { type Evidence, gatherEvidence, type World } from "./evidence.ts";
import { proofOf } from "./proofs.ts";
import { CHECKED_SENTENCES } from "./sentences.ts";

const rows = promisedRows();
const folder = fileFolder();
let world: World;
let evidence: Evidence;

beforeAll(async () => {
  const [sources, webhooks] = await Promise.all([startSourceServer(folder), startWebhookReceiver()]);
  world = { folder, sources, webhooks, stack: sharedStack() };
  evidence = await gatherEvidence(world);
});
afterAll(async () => {
  await world?.webhooks.close();
  await world?.sources.close();
});

const SENTENCES = /^Text of /;

/** The rows of each section with the same check, in the order of the contract. Sentences are counted. */
function groups(): { heading: string; names: string[]; by: string }[] {
  const groups = new Map<string, { heading: string; names: string[]; by: string }>();
  for (const row of rows) {
    const by = (proofOf(row)?.by ?? "").replace(/(?:: “.*”)?(?: for `[^`]+`)?$/, "");
    const heading = SENTENCES.test(row.heading) ? "Sentences" : row.heading;
    const group = groups.get(`${heading} ${by}`) ?? { heading, names: [], by };
    group.names.push(row.name);
    groups.set(`${heading} ${by}`, group);
  }
  return [...groups.values()];
}

it("has a check for every row of the contract", async () => {
  expect(rows.length).toBeGreaterThan(200);
  expect(rows.filter((row) => proofOf(row) === null).map(({ id }) => id)).toEqual([]);
  expect(CHECKED_SENTENCES.filter((start) => !rows.some(({ name }) => name.startsWith(start)))).toEqual([]);
  const table = [
    "# Conformance",
    "",
    "Every row of the contract, and the check that proves it. test/conformance generates and checks this table.",
    "",
    "| Section of the contract | Rows | Proven by |",
    "|---|---|---|",
    ...groups().map(
      ({ heading, names, by }) =>
        `| ${heading} | ${heading === "Sentences" ? names.length : names.join(", ")} | ${by} |`,
    ),
    "",
  ];
  await expect(table.join("\n")).toMatchFileSnapshot("../../docs/conformance.md");
});

it.each(rows.map((row) => [row.id, row] as const))("%s", (_, row) => {
  proofOf(row)?.check(evidence);
});
