// The guides: pages of docs/ that local/guides/ has made into assets.
import * as z from "zod";
import { AppError } from "#shared/errors.ts";
import type { Env } from "../../bindings.ts";

const GuideIndex = z.array(
  z.object({
    title: z.string(),
    pages: z.array(
      z.object({ page: z.string(), title: z.string(), summary: z.string(), hasCalculator: z.boolean().default(false) }),
    ),
  }),
);
export type GuideIndex = z.infer<typeof GuideIndex>;
export type GuideEntry = GuideIndex[number]["pages"][number];

/** No hidden files, and one folder at most. */
const FILE = /^([\w-]+\/)?[\w-]+\.(html|md|txt|json|png|webp|svg|js)$/;

/** The content of a file of the guides. Throws AppError(route_not_found). */
export async function guideFile(env: Env, path: string): Promise<Response> {
  const url = `https://assets.local/guides/${path}`;
  const found = FILE.test(path) ? await env.ASSETS?.fetch(new Request(url)) : undefined;
  if (found?.ok) return found;
  await found?.body?.cancel();
  throw new AppError("route_not_found", `There is no guide at /docs/${path.replace(/\.html$/, "")}; /docs lists all`);
}

/** All guides by group; none where the service was built without them. */
export async function guideIndex(env: Env): Promise<GuideIndex> {
  try {
    return GuideIndex.parse(await (await guideFile(env, "index.json")).json());
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
