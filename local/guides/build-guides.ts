// Builds the guides of /docs out of docs/: a fragment of HTML and the Markdown of each, the list of contents, and
// llms.txt (llmstxt.org).
import { access, mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ROOT } from "../home/constants.ts";
import { replaceFile } from "../home/replace-file.ts";
import { CONTENTS } from "./contents.ts";
import { type Guide, imagesOf, renderGuide } from "./render-guide.ts";

/** What the Worker needs of all guides (worker/http/docs/guides.ts). */
export type GuideIndex = readonly {
  readonly title: string;
  readonly pages: readonly (Pick<Guide, "page" | "title" | "summary"> & { readonly hasCalculator?: true })[];
}[];

/**
 * Writes `guides/` below a folder, which the Worker serves as assets, unless it is of the present pages. Several
 * processes may do so at the same time. Where docs/ is absent, what is there stays as it is.
 */
export async function buildGuides(folder: string): Promise<void> {
  if (!(await exists(join(ROOT, "docs", "self-hosting.md")))) return;
  const guides = await renderAll();
  const index = indexOf(guides.map(({ guide }) => guide));
  const files = [
    ...guides.flatMap(({ guide, markdown }) => [
      [`${guide.page}.html`, guide.body] as const,
      [`${guide.page}.md`, markdown] as const,
    ]),
    ["index.json", JSON.stringify(index)] as const,
    ["llms.txt", llmsText(index)] as const,
    ["llms-full.txt", guides.map(({ markdown }) => markdown).join("\n\n")] as const,
  ];
  const script = guides.some(({ guide }) => guide.hasCalculator) ? await buildCalculator() : null;
  const images = [...new Set(guides.flatMap(({ markdown }) => imagesOf(markdown)))];
  await Promise.all([
    ...files.map(([name, text]) => update(join(folder, "guides", name), Buffer.from(text))),
    ...(script === null ? [] : [update(join(folder, "guides", "calculator.js"), script)]),
    ...images.map(async (path) =>
      update(join(folder, "guides", basename(path)), await readFile(join(ROOT, "docs", path))),
    ),
  ]);
}

/** The script of the page on costs. Throws esbuild's error. */
async function buildCalculator(): Promise<Buffer> {
  // Absent where the guides come built.
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    ...{ absWorkingDir: ROOT, entryPoints: ["dashboard/costs/main.ts"], outfile: "calculator.js", write: false },
    ...{ bundle: true, minify: true, format: "iife", target: "es2022", logLevel: "silent" },
  });
  return Buffer.from(outputFiles[0]?.contents ?? "");
}

/** Writes a file unless it is the same. */
async function update(path: string, content: Buffer): Promise<void> {
  if ((await readFile(path).catch(() => null))?.equals(content)) return;
  await mkdir(dirname(path), { recursive: true });
  await replaceFile(path, content);
}

async function renderAll(): Promise<{ readonly guide: Guide; readonly markdown: string }[]> {
  const pages = CONTENTS.flatMap((group) => group.pages);
  const known = new Set(pages);
  return Promise.all(
    pages.map(async (page) => {
      const markdown = await readFile(join(ROOT, "docs", `${page}.md`), "utf8");
      return { guide: renderGuide(page, markdown, known), markdown };
    }),
  );
}

const indexOf = (guides: readonly Guide[]): GuideIndex =>
  CONTENTS.map(({ title, pages }) => ({
    title,
    pages: pages.flatMap((page) =>
      guides
        .filter((guide) => guide.page === page)
        .map(({ title, summary, hasCalculator }) => ({
          page,
          title,
          summary,
          ...(hasCalculator && { hasCalculator }),
        })),
    ),
  }));

/** The list of the Markdown pages, for programs that read text. */
export const llmsText = (index: GuideIndex): string =>
  [
    "# Copra",
    "",
    "> A self-hosted media encoding service: a client POSTs a JSON job, machines of the operator encode it with ffmpeg,",
    "> the results land in the client's bucket, and a signed webhook reports the end.",
    "",
    "The API describes itself in [OpenAPI](/v2/openapi.json) and at [/docs](/docs).",
    ...index.flatMap(({ title, pages }) => [
      ...["", `## ${title}`, ""],
      ...pages.map(({ page, title, summary }) => `- [${title}](/docs/${page}.md): ${summary}`),
    ]),
    "",
  ].join("\n");

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
