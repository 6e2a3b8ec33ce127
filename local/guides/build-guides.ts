// Builds the pages of /docs: the guides of docs/ in HTML and Markdown, the API reference, the OpenAPI document, and
// llms.txt (llmstxt.org).
import { access, mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { replaceFile } from "../../cli/replace-file.ts";
import { ROOT } from "../home/constants.ts";
import { CONTENTS } from "./contents.ts";
import { type Guide, imagesOf, renderGuide } from "./render-guide.ts";

/** All guides by group. */
export type GuideIndex = readonly {
  readonly title: string;
  readonly pages: readonly Pick<Guide, "page" | "title" | "summary">[];
}[];

/** Makes the pages and the OpenAPI document (worker/http/docs/documents.ts). */
type Documents = (index: GuideIndex, bodies: Readonly<Record<string, string>>) => Promise<Record<string, string>>;

/**
 * Writes `guides/` below a folder, which the Worker serves as assets. Files that are current stay. Several processes
 * may do so at the same time. If docs/ is missing, existing files stay as they are.
 */
export async function buildGuides(folder: string): Promise<void> {
  if (!(await exists(join(ROOT, "docs", "self-hosting.md")))) return;
  const guides = await renderAll();
  const index = indexOf(guides.map(({ guide }) => guide));
  // Loaded at run time: the Worker's types differ from Node's, and the file is missing where everything comes built.
  const worker = new URL("../../worker/http/docs/documents.ts", import.meta.url).href;
  const { documents }: { documents: Documents } = await import(worker);
  const files = {
    ...(await documents(index, Object.fromEntries(guides.map(({ guide }) => [guide.page, guide.body])))),
    ...Object.fromEntries(guides.map(({ guide, markdown }) => [`${guide.page}.md`, markdown])),
    "llms.txt": llmsText(index),
    "llms-full.txt": guides.map(({ markdown }) => markdown).join("\n\n"),
  };
  const images = [...new Set(guides.flatMap(({ markdown }) => imagesOf(markdown)))];
  await Promise.all([
    ...Object.entries(files).map(([name, text]) => update(join(folder, "guides", name), Buffer.from(text))),
    ...images.map(async (path) =>
      update(join(folder, "guides", basename(path)), await readFile(join(ROOT, "docs", path))),
    ),
  ]);
}

/** Writes a file if its content changes. */
async function update(path: string, content: Buffer): Promise<void> {
  if ((await readFile(path).catch(() => null))?.equals(content)) return;
  await mkdir(dirname(path), { recursive: true });
  replaceFile(path, content);
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
      guides.filter((guide) => guide.page === page).map(({ title: name, summary }) => ({ page, title: name, summary })),
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
