import { inject, it } from "vitest";
import { CASES } from "./testing/cases.ts";

// The cases run at the same time, because they mostly wait.
it.concurrent.each(CASES)("%s", (_, run) => run(inject("clientService")));
