import { expect, it } from "vitest";
import { inSoak } from "../../encoder-node/testing/few.ts";
import { tryFaults, trySeeds } from "./seeds/try-seeds.ts";

/** Seeds of each of two processes. */
const SEEDS = inSoak(180, 30);

it(`keeps its promises despite reordered messages, losses and deaths: ${2 * SEEDS} more seeds`, async () => {
  const tried = await Promise.all([trySeeds(41, SEEDS), trySeeds(221, SEEDS)]);
  expect(tried.join("")).not.toContain("VIOLATION");
});

it("keeps its promises with a single fault of any request: a thirtieth of all faults", async () => {
  expect(await tryFaults("1/30")).not.toContain("VIOLATION");
});
