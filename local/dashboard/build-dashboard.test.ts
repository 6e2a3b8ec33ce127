import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Metafile } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { fileFolder } from "../../test/fixtures.ts";
import { buildDashboard, entryOf } from "./build-dashboard.ts";

const folder = fileFolder();
let metafile: Metafile;
beforeAll(async () => {
  metafile = await buildDashboard(folder);
});

const zipped = (name: string): number => gzipSync(readFileSync(join(folder, "assets", name)), { level: 9 }).length;
const sum = (names: readonly string[]): number => names.reduce((total, name) => total + zipped(name), 0);

it("the first page needs at most 45 kB of scripts and 8 kB of styles, compressed", () => {
  const { script, chunks } = entryOf(metafile);
  expect(sum([script, ...chunks])).toBeLessThan(45_000);
  // Browsers load six files at the same time over HTTP/1.1.
  expect(chunks.length).toBeLessThan(4);
  const page = readFileSync(join(folder, "shell.html"), "utf8");
  const [, style = ""] = /rel="stylesheet" href="\/assets\/([\w.-]+)"/.exec(page) ?? [];
  expect(sum([style])).toBeLessThan(8000);
});

it("the first page loads no other page, no player and no library of the service", () => {
  const { script, chunks } = entryOf(metafile);
  const inputs = [script, ...chunks].flatMap((name) => Object.keys(metafile.outputs[`assets/${name}`]?.inputs ?? {}));
  expect(inputs.length).toBeGreaterThan(20);
  expect(
    inputs.filter((path) =>
      /\/(zod|hls\.js|dashjs)\/|dashboard\/(job|new-job|templates|nodes|usage|settings)\//.test(path),
    ),
  ).toEqual([]);
});

it("the form for jobs has the fields of the request schemas, without zod", () => {
  expect(Object.keys(metafile.inputs).filter((path) => path.includes("/zod/"))).toEqual([]);
  expect(scriptsOf("dashboard/new-job/new-job-page.tsx").some((path) => read(path).includes("STANDARD_IA"))).toBe(true);
});

it("pages load the editor for JSON only when it is opened", () => {
  const inputsOf = (page: string): string[] =>
    scriptsOf(page).flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  const isEditor = (path: string): boolean => /\/@(?:codemirror|lezer)\//.test(path);
  for (const page of ["new-job/new-job-page.tsx", "templates/templates-page.tsx"]) {
    expect(inputsOf(`dashboard/${page}`).filter(isEditor)).toEqual([]);
  }
  const editor = scriptsOf("dashboard/new-job/json/code-editor.ts");
  expect(inputsOf("dashboard/new-job/json/code-editor.ts").some(isEditor)).toBe(true);
  expect(sum(editor.map((path) => basename(path)))).toBeLessThan(140_000);
});

/** The script of a page, and the scripts that it imports at start. */
function scriptsOf(page: string): string[] {
  const first = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === page)?.[0] ?? "";
  const paths = new Set([first]);
  for (const path of paths) {
    for (const { path: other, kind } of metafile.outputs[path]?.imports ?? []) {
      if (kind === "import-statement") paths.add(other);
    }
  }
  return [...paths];
}
const read = (path: string): string => readFileSync(join(folder, path), "utf8");

it("the page refers only to existing files, and has nothing inline", () => {
  const page = readFileSync(join(folder, "shell.html"), "utf8");
  const named = [...page.matchAll(/\/assets\/([\w.-]+)|"([\w.-]+\.css)"/g)].map(
    ([, name, style = ""]) => name ?? style,
  );
  expect(named.length).toBeGreaterThan(1);
  for (const name of named) expect(existsSync(join(folder, "assets", name))).toBe(true);
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
});

it("a build keeps replaced files for a week, for open tabs", async () => {
  const assets = join(folder, "assets");
  const record = join(folder, ".build.json");
  const { files, ...others } = JSON.parse(readFileSync(record, "utf8"));
  expect(files.toSorted()).toEqual(readdirSync(assets).toSorted());
  // The last build was of other sources, and was served for a month.
  writeFileSync(record, JSON.stringify({ ...others, files: [...files, "settings-page-REPLACED.js"] }));
  const ages = { "settings-page-REPLACED.js": 30, "settings-page-RECENT.js": 6, "settings-page-OLD.js": 8 };
  for (const [name, days] of Object.entries(ages)) writeOld(join(assets, name), days);
  await buildDashboard(folder);
  const expected = [...files, "settings-page-REPLACED.js", "settings-page-RECENT.js"];
  expect(readdirSync(assets).toSorted()).toEqual(expected.toSorted());
});

function writeOld(path: string, days: number): void {
  writeFileSync(path, "");
  const at = Date.now() / 1000 - days * 86_400;
  utimesSync(path, at, at);
}
