import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { it } from "../../test/fixtures.ts";
import { buildSite } from "./build-guides.ts";

it("a static site has a file for each link of its pages, and leads to the dashboard of the service", async ({
  folder,
}) => {
  await buildSite(folder, "https://encode.example.com");
  const files = new Set(globSync("**/*.*", { cwd: folder }));
  const pages = [...files].filter((file) => file.endsWith(".html"));
  expect(pages).toContain("docs/reference/jobs/index.html");
  for (const page of pages) {
    const text = readFileSync(join(folder, page), "utf8");
    const links = [...text.matchAll(/(?:href|src|srcset)="\/([^"#]*)/g)].map(([, path = ""]) => path);
    expect(links.filter((path) => !files.has(path) && !files.has(`${path}/index.html`))).toEqual([]);
    expect(text).toContain('href="https://encode.example.com/dashboard"');
    expect(text).not.toContain("https://copra.example.com");
  }
  for (const path of ["guides/search.json", "guides/search.js", "llms.txt", "docs/reference/jobs.md"])
    expect(files).toContain(path);
});
