// Setup of test files with properties: `npm test` tries the same cases each time, and test:soak new cases.
import fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** Null: another seed for each property. */
    propertySeed: number | null;
  }
}

const seed = inject("propertySeed");
if (seed !== null) fc.configureGlobal({ seed });
