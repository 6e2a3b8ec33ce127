import { expect, inject, it } from "vitest";
import { CASES } from "./testing/cases.ts";

it.each(CASES)("%s", async (_, run) => {
  await run(inject("clientService"));
  expect.assertions(0);
});
