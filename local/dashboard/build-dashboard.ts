// Builds the dashboard: hashed files in assets/, and the pages that load them.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import type { InlineConfig, Rolldown } from "vite";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import { replaceFile } from "../../cli/replace-file.ts";
import { ROOT } from "../home/constants.ts";
import { ADOPTED_STYLES, evaluatedFields } from "./plugins.ts";

const DASHBOARD = join(ROOT, "dashboard");
/**
 * The pages, each with a build of its own: files that both share would split the dashboard into more files, and the
 * player's page is in a sandboxed frame.
 */
const PAGES = ["shell.html", "player/frame/player.html"];
/** A clip of six seconds for an account's first job. */
const SAMPLE = "sample.mp4";
/** `[assets]` in wrangler.toml. */
export const DIST = join(ROOT, "dist", "dashboard");
/** The sources of the build. Libraries have their versions in the lock file. */
const SOURCES = ["dashboard", "client", "shared", "local/dashboard", "package-lock.json"];
/**
 * The code of the first page, in one file: there would be a file for each set of pages that share a module, and browsers
 * load six files at the same time over HTTP/1.1.
 */
const FIRST = /[\\/](?:dashboard[\\/](?:app|core|jobs|parts)|client|@?preact)[\\/]|vite[\\/]preload-helper/;
/** The record of the last build. */
const recordOf = (folder: string): string => join(folder, ".build.json");
const Record = z.object({
  digest: z.string(),
  /** The names of the build's files in assets/. */
  files: z.array(z.string()),
});

/** Replaced files are kept for this time, because open tabs load them. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Headers for hashed files, and for the page itself, which only the Worker serves with its headers. */
const HEADERS = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
  Access-Control-Allow-Origin: *
/shell.html
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
  X-Content-Type-Options: nosniff
/player.html
  Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
  X-Content-Type-Options: nosniff
`;

/**
 * The folder of the build. Builds it unless it matches the current sources. If the sources are missing or do not build,
 * the last build stays: the service does not need the dashboard.
 */
export async function ensureDashboard(folder = DIST): Promise<string> {
  await mkdir(folder, { recursive: true });
  if (!(await exists(join(DASHBOARD, "main.tsx"))) || (await isCurrent(folder))) return folder;
  try {
    await buildDashboard(folder);
  } catch (error) {
    console.error(`The dashboard cannot be built, and stays as it was: ${messageOf(error)}`);
  }
  return folder;
}

/** True if the build matches the current sources. */
export async function isCurrent(folder: string): Promise<boolean> {
  const record = await readRecord(folder);
  if (record === null || !(await exists(join(folder, "shell.html")))) return false;
  return (await digestOfSources()) === record.digest;
}

/** The record of the last build; null if there is none. */
async function readRecord(folder: string): Promise<z.infer<typeof Record> | null> {
  const text = await readFile(recordOf(folder), "utf8").catch(() => null);
  return text === null ? null : (Record.safeParse(JSON.parse(text)).data ?? null);
}

export type BuiltFile = Rolldown.OutputChunk | Rolldown.OutputAsset;

/**
 * Builds the dashboard, with its player, into a folder. Replaced files stay for a week. Several processes may build at
 * the same time, and others may serve the folder. Throws Vite's error.
 */
export async function buildDashboard(folder = DIST): Promise<readonly BuiltFile[]> {
  const digest = await digestOfSources();
  const built = (await Promise.all(PAGES.map(buildPage))).flat();
  const isPage = ({ fileName }: BuiltFile): boolean => fileName.endsWith(".html");
  const assets = built
    .filter((file) => !isPage(file))
    .map((file) => [basename(file.fileName), contentOf(file)] as const);
  const files = [...new Map(assets), [SAMPLE, await readFile(join(DASHBOARD, SAMPLE))] as const];
  await mkdir(join(folder, "assets"), { recursive: true });
  await markReplaced(folder);
  for (const [name, content] of files) replaceFile(join(folder, "assets", name), content);
  replaceFile(join(folder, "_headers"), HEADERS);
  replaceFile(join(folder, ".assetsignore"), basename(recordOf(folder)));
  for (const page of built.filter(isPage)) replaceFile(join(folder, basename(page.fileName)), contentOf(page));
  const names = files.map(([name]) => name);
  replaceFile(recordOf(folder), JSON.stringify({ digest, files: names } satisfies z.infer<typeof Record>));
  await removeOld(join(folder, "assets"), new Set(names));
  return built;
}

const contentOf = (file: BuiltFile): string | Uint8Array => (file.type === "chunk" ? file.code : file.source);

/** Vite is loaded only for a build: it needs 100 MB. */
async function buildPage(page: string): Promise<readonly BuiltFile[]> {
  const { build } = await import("vite");
  const config: InlineConfig = {
    configFile: false,
    root: DASHBOARD,
    publicDir: false,
    logLevel: "silent",
    plugins: [ADOPTED_STYLES, evaluatedFields],
    build: {
      write: false,
      target: "es2022",
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: join(DASHBOARD, page),
        output: { codeSplitting: { groups: [{ name: "first", test: FIRST }] } },
      },
    },
  };
  const result = await build(config);
  return "output" in result ? result.output : [];
}

/** A digest of the names and contents of the sources. */
async function digestOfSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const source of SOURCES) {
    const names = source.endsWith(".json") ? [""] : await readdir(join(ROOT, source), { recursive: true });
    for (const name of names
      .filter((path) => path === "" || /(?<!\.test)\.(?:tsx?|css|html|mp4)$/.test(path))
      .toSorted())
      hash.update(name).update(await readFile(join(ROOT, source, name)).catch(() => "missing"));
  }
  return hash.digest("hex");
}

/** Touches the files of the last build, so that their age counts from their replacement. */
async function markReplaced(folder: string): Promise<void> {
  const now = new Date();
  const { files = [] } = (await readRecord(folder)) ?? {};
  // Another process may have removed a file.
  for (const name of files) await utimes(join(folder, "assets", name), now, now).catch(() => undefined);
}

async function removeOld(folder: string, current: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const age = Date.now() - (await stat(path)).mtimeMs;
    if (!current.has(name) && age > KEPT_MS) await rm(path, { force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

if (process.argv[1] === import.meta.filename) await buildDashboard();
