import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Section, searchOf } from "../../dashboard/docs-search.ts";
import { fileFolder } from "../../test/fixtures.ts";
import { buildSite } from "./build-guides.ts";

const folder = fileFolder();
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
  ["logo", "overlays"],
  ["verify webhooks python", "verify-webhooks"],
  ["migrating mux", "migrating/mux"],
])("finds for %s first the page %s", (text, page) => {
  expect(search(text)[0]?.section[0]).toBe(page);
});

it("finds nothing for a word that no page has", () => {
  expect(search("xylophone")).toEqual([]);
});
