// Pages of docs/ against the code: recipes are valid requests, and troubleshooting has all error codes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ERRORS } from "#shared/errors.ts";
import { parseJobRequest } from "#shared/request/job-request.ts";
import { ROOT } from "../home/constants.ts";

const PAGE = readFileSync(join(ROOT, "docs", "recipes.md"), "utf8");
const RECIPES = PAGE.split("\n## ")
  .slice(1)
  .flatMap((section) =>
    [...section.matchAll(/```json\n(.*?)```/gs)].map(([, text = ""]) => [section.split("\n")[0] ?? "", text] as const),
  );

const REST = {
  input: { url: "https://example.com/video.mp4" },
  storage: {
    ...{ service: "s3", bucket: "videos", region: "eu-west-1" },
    credentials: { access_key_id: "AKIAIOSFODNN7EXAMPLE", secret_access_key: "secret" },
  },
  notification: { type: "http", url: "https://example.com/hook" },
};

it.each(RECIPES)("the recipe %s is valid", (_title, text) => {
  const recipe = JSON.parse(text);
  const body = "outputs" in recipe ? { ...REST, ...recipe } : { ...REST, outputs: recipe };
  const result = parseJobRequest(body, "none");
  expect(result.ok ? "" : result.error.message).toBe("");
});

it("recipes are found", () => expect(RECIPES.length).toBeGreaterThan(6));

it("troubleshooting has all error codes", () => {
  const page = readFileSync(join(ROOT, "docs", "troubleshooting.md"), "utf8");
  expect(Object.keys(ERRORS).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
