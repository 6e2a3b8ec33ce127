import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { accountOf } from "./account.ts";
import { hubOf } from "./hub.ts";
import { jobOf } from "./job.ts";

it("asks for every object in the part of the world that is set, and anywhere without it", () => {
  // Only Cloudflare has jurisdictions: the local runtime refuses them.
  for (const stubOf of [jobOf, hubOf, accountOf]) {
    expect(() => stubOf({ ...env, JURISDICTION: "eu" }, "one")).toThrow(/[Jj]urisdiction/);
    for (const JURISDICTION of ["", undefined]) {
      const anywhere = JURISDICTION === undefined ? env : { ...env, JURISDICTION };
      expect(stubOf(anywhere, "one").id.equals(stubOf(env, "one").id)).toBe(true);
    }
  }
});
