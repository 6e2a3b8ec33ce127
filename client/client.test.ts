import { inject, it } from "vitest";
import { CASES } from "./testing/cases.ts";

// Together, because they mostly wait.
it.concurrent.each(CASES)("%s", (_, run) => run(inject("clientService")));
