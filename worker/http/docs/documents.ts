// The files that the build makes from the API's description (local/guides/build-guides.ts).
import { openApiDocument } from "../openapi/document.ts";
import { type GuideIndex, guidePage } from "./guide-page.ts";
import { referencePage } from "./reference-page.ts";

/** Stands for the service's origin in the reference. Nobody can have this host (RFC 2606). */
export const ORIGIN_PLACEHOLDER = "https://copra.invalid";

/** Returns files by name: all pages in HTML, and the OpenAPI document. `bodies`: the guides' bodies, by page. */
export async function documents(
  index: GuideIndex,
  bodies: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const document = openApiDocument();
  const guides = index.flatMap(({ pages }) => pages);
  const pages = guides.map(
    async (entry) => [`${entry.page}.html`, await guidePage(entry, bodies[entry.page] ?? "", index)] as const,
  );
  return {
    "openapi.json": JSON.stringify(document),
    "reference.html": await referencePage(document, ORIGIN_PLACEHOLDER, index),
    ...Object.fromEntries(await Promise.all(pages)),
  };
}
