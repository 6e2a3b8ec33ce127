import { expect, it } from "vitest";
import { trySeeds } from "./seeds/try-seeds.ts";

it("keeps its promises despite reordered messages, losses and deaths: 40 seeds", async () => {
  const tried = await Promise.all([trySeeds(1, 20), trySeeds(21, 20)]);
  expect(tried.join("")).not.toContain("VIOLATION");
});

it("gives the same result again with the same seed, wherever it runs", async () => {
  const alone = await trySeeds(3, 1, { COPRA_SIM_SEED: "3" });
  expect(await trySeeds(3, 1, { COPRA_SIM_SEED: "3" })).toBe(alone);
  expect(alone).toContain("is accepted");
});
