// Pages that are loaded with their styles when they are first shown.
import type { ComponentType } from "preact";
import { lazy } from "preact/compat";

/** The style sheets by the names of pages; the build writes them into the HTML page. */
function stylesOfPages(): Record<string, string> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="page-styles"]');
  return JSON.parse(meta?.content ?? "{}");
}

/** Loads a style sheet once. The page is shown even if the style sheet fails to load. */
function loadStyle(file: string | undefined): Promise<void> {
  if (file === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = `/assets/${file}`;
    link.onload = () => resolve();
    link.onerror = () => resolve();
    document.head.append(link);
  });
}

/** A page by the name of its script, such as `job-page`. */
export const lazyPage = <Props>(name: string, load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy(async () => {
    const [page] = await Promise.all([load(), loadStyle(stylesOfPages()[name])]);
    return page;
  });
