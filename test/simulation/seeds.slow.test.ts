import { expect, it } from "vitest";
import { tryFaults, trySeeds } from "./seeds/try-seeds.ts";

it("keeps its promises despite reordered messages, losses and deaths: 360 more seeds", async () => {
  const tried = await Promise.all([trySeeds(41, 180), trySeeds(221, 180)]);
  expect(tried.join("")).not.toContain("VIOLATION");
  // Some 220 s of processor time, beside other files.
}, 900_000);

it("keeps its promises with a single fault of any request: a thirtieth of all faults", async () => {
  expect(await tryFaults("1/30")).not.toContain("VIOLATION");
}, 300_000);
