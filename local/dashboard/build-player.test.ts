import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { ROOT } from "../home/constants.ts";
import { buildPlayer, type PlayerBuild } from "./build-player.ts";

let player: PlayerBuild;
beforeAll(async () => {
  player = await buildPlayer(ROOT, {
    absWorkingDir: ROOT,
    outdir: "assets",
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
  });
});

/** Sizes of the files with matching names, in bytes after `gzip -9`. */
const compressed = (name: RegExp): number[] =>
  player.files
    .filter(({ path }) => name.test(basename(path)))
    .map(({ contents }) => gzipSync(contents, { level: 9 }).length);

it("keeps the player small, and loads hls.js and dash.js only for streams", () => {
  expect(compressed(/^player-.*\.js$/)).toEqual([expect.toSatisfy((size: number) => size < 20_000)]);
  expect(compressed(/^player-.*\.css$/)).toEqual([expect.toSatisfy((size: number) => size < 4_000)]);
  // hls.js 1.7.4: 182 kB with all its features, 117 kB without separate audio and subtitles.
  expect(compressed(/^hls-engine-/)).toEqual([expect.toSatisfy((size: number) => size <= 125_000)]);
  expect(compressed(/^dash-engine-/)).toEqual([expect.toSatisfy((size: number) => size <= 270_000)]);
  const entry = player.files.find(({ path }) => /player-[^/]*\.js$/.test(path))?.text ?? "";
  expect(entry).not.toMatch(/from"[^"]*engine-/);
  expect(entry).toMatch(/import\("[^"]*hls-engine-/);
});

it("writes a page with the files of its build, for a frame without an origin", () => {
  const names = player.files.map(({ path }) => `/assets/${basename(path)}`);
  const used = [...player.page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, name]) => name);
  expect(used).toHaveLength(2);
  expect(names).toEqual(expect.arrayContaining(used));
  expect(player.page).toContain('crossorigin="anonymous"');
  expect(player.inputs).toEqual(expect.arrayContaining(["dashboard/player/frame/player.html"]));
});
