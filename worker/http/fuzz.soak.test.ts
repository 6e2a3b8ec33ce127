import { exports } from "cloudflare:workers";
import fc from "fast-check";
import { expect, it } from "vitest";
import { isErrorCode } from "#shared/errors.ts";
import { arbitraryBody } from "#shared/testing/arbitrary-body.ts";
import { basic, newAccount } from "../testing/jobs.ts";

it("returns a plan or an error response for any body", async () => {
  const { key } = await newAccount();
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(arbitraryBody, async (body) => {
      const request = { method: "POST", headers: basic(key), body: JSON.stringify(body) };
      const response = await exports.default.fetch(new Request("https://copra.test/v2/jobs?dry_run=true", request));
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      const answer = await response.json<Record<string, unknown>>();
      expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
      if (response.status === 200) return;
      expect([response.status, answer]).toEqual([
        expect.toBeOneOf([400, 413]),
        { message: expect.stringMatching(/\w/), error_code: expect.toSatisfy(isErrorCode), status: "error" },
      ]);
    }),
    { numRuns: 150 },
  );
  // There must be both plans and errors: the bodies must vary enough.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400]));
});
