import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { type BuiltFile, buildDashboard, isCurrent } from "./build-dashboard.ts";

const folder = fileFolder();
let files: readonly BuiltFile[];
beforeAll(async () => {
  files = await buildDashboard(folder);
});

const page = (name: string): string => readFileSync(join(folder, name), "utf8");
/** The files in assets/ that a text names. */
const assetsIn = (text: string): string[] => [...text.matchAll(/\/assets\/([\w.-]+)/g)].map(([, name = ""]) => name);
const zipped = (name: string): number => gzipSync(readFileSync(join(folder, "assets", name)), { level: 9 }).length;
const sum = (names: readonly string[]): number => names.reduce((total, name) => total + zipped(name), 0);
const named = (pattern: RegExp): string[] =>
  files.map(({ fileName }) => basename(fileName)).filter((name) => pattern.test(name));

/** The modules of scripts, and of the scripts that they import at start. */
function modulesOf(names: readonly string[]): string[] {
  const paths = new Set(names.map((name) => `assets/${name}`));
  const modules: string[] = [];
  for (const path of paths) {
    const file = files.find(({ fileName }) => fileName === path);
    if (file?.type !== "chunk") continue;
    for (const other of file.imports) paths.add(other);
    modules.push(...file.moduleIds);
  }
  return modules;
}

it("needs at most 45 kB of scripts and 8 kB of styles for the first page, compressed", () => {
  const assets = assetsIn(page("shell.html"));
  expect(sum(assets.filter((name) => name.endsWith(".js")))).toBeLessThan(45_000);
  expect(sum(assets.filter((name) => name.endsWith(".css")))).toBeLessThan(8000);
  // Browsers load six files at the same time over HTTP/1.1.
  expect(assets.length).toBeLessThan(6);
});

it("draws text with its own font in three weights", () => {
  const styles = named(/\.css$/).map((name) => page(`assets/${name}`));
  const weights = styles.join().match(/font-weight:[^;}]+/g);
  const ofFaces = "font-weight:100 900";
  expect(
    [...new Set(weights)].filter((weight) => weight !== ofFaces && weight !== "font-weight:inherit").toSorted(),
  ).toEqual(["400", "500", "600"].map((weight) => `font-weight:${weight}`));
  expect(zipped(named(/^inter-latin-wght-normal-.*woff2$/)[0] ?? "")).toBeLessThan(50_000);
});

it("loads no other page, no player and no library of the service with the first page", () => {
  const modules = modulesOf(assetsIn(page("shell.html")));
  expect(modules.length).toBeGreaterThan(20);
  expect(
    modules.filter((path) =>
      /\/(zod|hls\.js|dashjs)\/|dashboard\/(job|new-job|templates|nodes|usage|settings|player)\//.test(path),
    ),
  ).toEqual([]);
});

it("gives the form for jobs the fields of the request schemas, without zod", () => {
  const modules = files.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
  expect(modules.filter((path) => path.includes("/zod/"))).toEqual([]);
  expect(files.some((file) => file.type === "chunk" && file.code.includes("STANDARD_IA"))).toBe(true);
});

it("loads the editor for JSON only when it is opened", () => {
  const isEditor = (path: string): boolean => /\/@(?:codemirror|lezer)\//.test(path);
  expect(modulesOf(named(/^(?:new-job|templates)-page-.*js$/)).filter(isEditor)).toEqual([]);
  const editor = named(/^code-editor-.*js$/);
  expect(modulesOf(editor).some(isEditor)).toBe(true);
  expect(sum(editor)).toBeLessThan(140_000);
});

it("keeps the player small, and loads hls.js and dash.js only for streams", () => {
  const assets = assetsIn(page("player.html"));
  expect(sum(assets.filter((name) => name.endsWith(".js")))).toBeLessThan(20_000);
  expect(modulesOf(assets).filter((path) => /\/(?:hls\.js|dashjs)\//.test(path))).toEqual([]);
  expect(sum(named(/^hls-engine-/))).toBeLessThan(190_000);
  expect(sum(named(/^dash-engine-/))).toBeLessThan(270_000);
});

it.each(["shell.html", "player.html"])("writes %s with existing files only, and nothing inline", (name) => {
  const assets = assetsIn(page(name));
  expect(assets.length).toBeGreaterThan(1);
  for (const asset of assets) expect(existsSync(join(folder, "assets", asset))).toBe(true);
  expect(page(name)).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
  // In a frame without an origin, requests for modules are cross-origin.
  expect(page(name)).toContain('<script type="module" crossorigin');
});

it("keeps replaced files for a week, for open tabs", async () => {
  expect(await isCurrent(folder)).toBe(true);
  const assets = join(folder, "assets");
  const record = join(folder, ".build.json");
  const { files: names, ...others } = JSON.parse(readFileSync(record, "utf8"));
  expect(names.toSorted()).toEqual(readdirSync(assets).toSorted());
  // The last build was of other sources, and was served for a month.
  const replaced = { digest: "other", files: [...names, "settings-page-REPLACED.js"] };
  writeFileSync(record, JSON.stringify({ ...others, ...replaced }));
  expect(await isCurrent(folder)).toBe(false);
  const ages = { "settings-page-REPLACED.js": 30, "settings-page-RECENT.js": 6, "settings-page-OLD.js": 8 };
  for (const [name, days] of Object.entries(ages)) writeOld(join(assets, name), days);
  await buildDashboard(folder);
  const expected = [...names, "settings-page-REPLACED.js", "settings-page-RECENT.js"];
  expect(readdirSync(assets).toSorted()).toEqual(expected.toSorted());
});

function writeOld(path: string, days: number): void {
  writeFileSync(path, "");
  const at = Date.now() / 1000 - days * 86_400;
  utimesSync(path, at, at);
}
