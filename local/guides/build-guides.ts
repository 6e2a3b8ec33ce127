// Builds the pages of /docs: guides of docs/ and the API reference in HTML and Markdown, the search index, the OpenAPI
// document, and llms.txt (llmstxt.org).
import { mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { replaceFile } from "../../cli/replace-file.ts";
import { ROOT } from "../home/constants.ts";
import { CONTENTS, type GuideGroup } from "./contents.ts";
import { type GuideIndex, type Inlined, pageOf, sectionsOf } from "./page.ts";
import { type Guide, imagesOf, renderGuide } from "./render-guide.ts";

/** Makes the OpenAPI document and the pages of the reference (worker/http/docs/reference.ts). */
type Reference = () => { readonly openapi: string; readonly pages: Readonly<Record<string, string>> };

/**
 * Writes `guides/` below a folder, which the Worker serves as assets. Files that are current stay. Several processes
 * may do so at the same time.
 */
export async function buildGuides(folder: string): Promise<void> {
  await writeFiles(folder, await guideFiles(), (name) => `guides/${name}`);
}

/** Writes a static site for the root of a host. `service`: the origin of the API and the dashboard. */
export async function buildSite(folder: string, service: string): Promise<void> {
  const linked = Object.entries(await guideFiles()).map(([name, content]) => {
    if (typeof content !== "string" || name === "openapi.json") return [name, content] as const;
    return [
      name,
      content.replaceAll(ORIGIN, service).replaceAll('href="/dashboard', `href="${service}/dashboard`),
    ] as const;
  });
  await writeFiles(folder, Object.fromEntries(linked), sitePath);
}

/** Stands for the service's origin in all pages (worker/http/pages/docs.ts). */
const ORIGIN = "https://copra.example.com";

/** The path at which links of the pages find a file. */
function sitePath(name: string): string {
  if (name === "openapi.json") return "v2/openapi.json";
  if (name.endsWith(".txt") || name === "404.html") return name;
  if (!/\.(?:html|md)$/.test(name)) return `guides/${name}`;
  return `docs/${name === "index.html" ? name : name.replace(/\.html$/, "/index.html")}`;
}

type Files = Readonly<Record<string, string | Buffer>>;

/** All files by their names. */
async function guideFiles(): Promise<Files> {
  // Loaded at run time: the Worker's types differ from Node's, and the file is missing where everything comes built.
  const worker = new URL("../../worker/http/docs/reference.ts", import.meta.url).href;
  const { reference }: { reference: Reference } = await import(worker);
  const { openapi, pages } = reference();
  const groups = [...CONTENTS, { title: "API", pages: Object.keys(pages) }];
  const guides = await renderAll(groups, pages);
  const index = indexOf(groups, guides);
  const home = renderGuide("index", indexText(index), new Set(guides.map(({ page }) => page)));
  const all = [home, renderGuide("404", NOT_FOUND, new Set()), ...guides];
  const inlined = await inlinedTexts();
  const images = [...new Set(guides.flatMap(({ markdown }) => imagesOf(markdown)))].map(
    async (path) => [basename(path), await readFile(join(ROOT, "docs", path))] as const,
  );
  return {
    "openapi.json": openapi,
    "search.json": JSON.stringify(guides.flatMap(sectionsOf)),
    "search.js": await searchScript(),
    ...Object.fromEntries(all.map((guide) => [`${guide.page}.html`, pageOf(guide, index, inlined)])),
    ...Object.fromEntries(all.map(({ page, markdown }) => [`${page}.md`, markdown])),
    "llms.txt": indexText(index).replaceAll("](", "](/docs/"),
    "llms-full.txt": guides.map(({ markdown }) => markdown).join("\n\n"),
    ...Object.fromEntries(await Promise.all(images)),
  };
}

/** The page of a path without a page (worker/http/pages/docs.ts). */
const NOT_FOUND = `# Page not found

There is no page at this URL. The [documentation](/docs) lists all pages.
`;

/** Writes the files whose content changes. */
async function writeFiles(folder: string, files: Files, pathOf: (name: string) => string): Promise<void> {
  await Promise.all(
    Object.entries(files).map(async ([name, text]) => {
      const [path, content] = [join(folder, pathOf(name)), Buffer.from(text)];
      if ((await readFile(path).catch(() => null))?.equals(content)) return;
      await mkdir(dirname(path), { recursive: true });
      replaceFile(path, content);
    }),
  );
}

async function renderAll(
  groups: readonly GuideGroup[],
  built: Readonly<Record<string, string>>,
): Promise<readonly Guide[]> {
  const pages = groups.flatMap((group) => group.pages);
  const known = new Set(pages);
  return Promise.all(
    pages.map(async (page) =>
      renderGuide(page, built[page] ?? (await readFile(join(ROOT, "docs", `${page}.md`), "utf8")), known),
    ),
  );
}

const indexOf = (groups: readonly GuideGroup[], guides: readonly Guide[]): GuideIndex =>
  groups.map(({ title, pages }) => ({ title, pages: guides.filter(({ page }) => pages.includes(page)) }));

const BUILD = { absWorkingDir: ROOT, outdir: ".", bundle: true, minify: true, target: "es2022", write: false } as const;

/** The style and the script of all pages. Throws esbuild's error. */
async function inlinedTexts(): Promise<Inlined> {
  const entryPoints = ["local/guides/page.css", "dashboard/docs-page.ts"];
  const { outputFiles } = await build({ ...BUILD, entryPoints, format: "iife" });
  const textOf = (end: string): string => outputFiles.find(({ path }) => path.endsWith(end))?.text.trim() ?? "";
  return { style: textOf(".css"), script: textOf(".js") };
}

/** The script of the search, which pages load when it is opened. Throws esbuild's error. */
async function searchScript(): Promise<string> {
  const entryPoints = ["dashboard/docs-search.ts"];
  const { outputFiles } = await build({ ...BUILD, entryPoints, format: "iife", globalName: "copraSearch" });
  return outputFiles[0]?.text ?? "";
}

/** The list of all pages in Markdown, also for programs that read text. */
const indexText = (index: GuideIndex): string =>
  [
    "# Copra",
    "",
    "> A self-hosted media encoding service: a client POSTs a JSON job, machines of the operator encode it with ffmpeg,",
    "> the results land in the client's bucket, and a signed webhook reports the end.",
    ...index.flatMap(({ title, pages }) => [
      ...["", `## ${title}`, ""],
      ...pages.map(({ page, title, summary }) => `- [${title}](${page}.md): ${summary}`),
    ]),
    "",
  ].join("\n");

if (process.argv[1] === import.meta.filename) {
  const [folder = "dist/site", service = ORIGIN] = process.argv.slice(2);
  await buildSite(folder, service);
}
