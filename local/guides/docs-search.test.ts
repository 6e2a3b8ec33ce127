import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type Section, searchOf } from "../../dashboard/docs-search.ts";
import { buildSite } from "./build-guides.ts";

const folder = mkdtempSync(join(tmpdir(), "copra-search-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
await buildSite(folder, "https://encode.example.com");
const sections: readonly Section[] = JSON.parse(readFileSync(join(folder, "guides/search.json"), "utf8"));
const search = searchOf(sections);

it.each<[string, string]>([
  ["transcode", "encoding"],
  ["resize", "video"],
  ["verfy", "verify-webhooks"],
  ["thumbnail", "images"],
  ["thumbnails", "images"],
  ["templ", "templates"],
  ["webhok", "verify-webhooks"],
  ["encode videos", "encoding"],
  ["subtitles", "captions"],
  ["docker", "containers"],
  ["pricing", "costs"],
  ["logo", "recipes"],
  ["verify webhooks python", "verify-webhooks"],
  ["migrating mux", "migrating/mux"],
])("finds for %s first the page %s", (text, page) => {
  expect(search(text)[0]?.section[0]).toBe(page);
});

it("finds nothing for a word that no page has", () => {
  expect(search("xylophone")).toEqual([]);
});
