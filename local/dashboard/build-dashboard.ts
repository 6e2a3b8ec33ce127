// Builds the dashboard: hashed bundles in assets/, and the page that loads them.
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { type BuildOptions, build, type Metafile } from "esbuild";
import * as z from "zod";
import { messageOf } from "#shared/log.ts";
import { replaceFile } from "../../cli/replace-file.ts";
import { ROOT } from "../home/constants.ts";
import { ADOPTED_STYLES } from "./adopted-styles.ts";
import { buildPlayer } from "./build-player.ts";
import { evaluatedFields } from "./evaluated-fields.ts";
import { ONE_CHUNK } from "./one-chunk.ts";
import { buildStyles } from "./page-styles.ts";

const DASHBOARD = join(ROOT, "dashboard");
const ENTRY = "dashboard/main.tsx";
/** A clip of six seconds for an account's first job. */
const SAMPLE = "dashboard/sample.mp4";
/** `[assets]` in wrangler.toml. */
export const DIST = join(ROOT, "dist", "dashboard");
/** The record of the last build. */
const recordOf = (folder: string): string => join(folder, ".build.json");
const Record = z.object({
  digest: z.string(),
  inputs: z.array(z.string()),
  /** The names of the build's files in assets/. */
  files: z.array(z.string()).default([]),
});

/** Replaced files are kept for this time, because open tabs load them. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const OPTIONS = {
  outdir: "assets",
  entryPoints: [ENTRY],
  absWorkingDir: ROOT,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  metafile: true,
  write: false,
  logLevel: "silent",
} satisfies BuildOptions;

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
  return (await digestOf(record.inputs)) === record.digest;
}

/** The record of the last build; null if there is none. */
async function readRecord(folder: string): Promise<z.infer<typeof Record> | null> {
  const text = await readFile(recordOf(folder), "utf8").catch(() => null);
  return text === null ? null : Record.parse(JSON.parse(text));
}

/**
 * Builds the dashboard, with its player, into a folder. Replaced files stay for a week. Several processes may build at
 * the same time, and others may serve the folder. Throws esbuild's error.
 */
export async function buildDashboard(folder = DIST): Promise<Metafile> {
  const evaluated = new Set<string>();
  const plugins = [ONE_CHUNK, ADOPTED_STYLES, evaluatedFields(ROOT, evaluated)];
  const { metafile, outputFiles } = await build({ ...OPTIONS, plugins });
  await mkdir(join(folder, "assets"), { recursive: true });
  const { script, chunks, later } = entryOf(metafile);
  const styles = await buildStyles(OPTIONS, ENTRY, later);
  const player = await buildPlayer(ROOT, OPTIONS);
  const scripts = outputFiles.filter(({ path }) => path.endsWith(".js"));
  const sample = { path: SAMPLE, contents: await readFile(join(ROOT, SAMPLE)) };
  const files = [...scripts, ...styles.files, ...player.files, sample];
  const names = files.map(({ path }) => basename(path));
  await markReplaced(folder);
  for (const { path, contents } of files) replaceFile(join(folder, "assets", basename(path)), contents);
  const shell = await readFile(join(DASHBOARD, "shell.html"), "utf8");
  const head = [
    `<link rel="stylesheet" href="/assets/${styles.first}">`,
    // Names of files need no escaping.
    `<meta name="page-styles" content='${JSON.stringify(styles.later)}'>`,
    `<script type="module" src="/assets/${script}"></script>`,
    // Without preloads, browsers request chunks only when the importing file has arrived.
    ...chunks.map((chunk) => `<link rel="modulepreload" href="/assets/${chunk}">`),
    `<link rel="preload" href="/v2/session" as="fetch" crossorigin="anonymous">`,
  ].join("\n");
  replaceFile(join(folder, "_headers"), HEADERS);
  replaceFile(join(folder, ".assetsignore"), basename(recordOf(folder)));
  replaceFile(join(folder, "shell.html"), shell.replace("<div", `${head}\n<div`));
  replaceFile(join(folder, "player.html"), player.page);
  const inputs = [
    ...new Set(Object.keys(metafile.inputs).concat(player.inputs)),
    ...evaluated,
    ...["dashboard/shell.html", SAMPLE, relative(ROOT, import.meta.filename)],
  ];
  const record = { digest: await digestOf(inputs), inputs, files: names } satisfies z.infer<typeof Record>;
  replaceFile(recordOf(folder), JSON.stringify(record));
  await removeOld(join(folder, "assets"), new Set(names));
  return metafile;
}

type Entry = {
  readonly script: string;
  /** The chunks that the script imports. */
  readonly chunks: readonly string[];
  /** The sources of pages that are loaded on demand. */
  readonly later: readonly string[];
};

/** The scripts of the first page, and the sources of the other pages. */
export function entryOf({ outputs }: Metafile): Entry {
  const output = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === ENTRY);
  if (!output) throw new Error("The build of the dashboard has no entry");
  const needed = new Set([output[0]]);
  for (const path of needed) {
    for (const { path: chunk, kind } of outputs[path]?.imports ?? [])
      if (kind === "import-statement") needed.add(chunk);
  }
  const [script = "", ...chunks] = [...needed].map((path) => basename(path));
  const later = Object.values(outputs).flatMap(({ entryPoint }) =>
    entryPoint && entryPoint !== ENTRY ? [entryPoint] : [],
  );
  return { script, chunks, later };
}

/** A digest of the contents of files. A missing file gives a digest that no existing files have. */
async function digestOf(inputs: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const input of inputs) hash.update(await readFile(join(ROOT, input)).catch(() => "missing"));
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
