// Which page is shown: the path and query below /dashboard, as signals.
import { computed, signal } from "@preact/signals";

export const BASE = "/dashboard";

const current = signal(new URL(globalThis.location?.href ?? `http://localhost${BASE}`));
globalThis.addEventListener?.("popstate", () => {
  current.value = new URL(globalThis.location.href);
});

/** The path below /dashboard, such as `/jobs/01J…`; `/` for the first page. */
export const path = computed(() => current.value.pathname.slice(BASE.length).replace(/\/+$/, "") || "/");

/** The parameters of the query. */
export const query = computed(() => current.value.searchParams);

/** The address of a page, for links. `to` begins with `/` and may have a query. */
export const href = (to: string): string => (to === "/" ? BASE : `${BASE}${to}`);

/** Shows another page, without a request. `replace`: the browser's "back" skips the present one. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  globalThis.history[replace ? "replaceState" : "pushState"](null, "", href(to));
  current.value = new URL(globalThis.location.href);
}

/** Sets parameters of the query in place; those with an empty value are removed. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(`${path.value === "/" ? "" : path.value}${text === "" ? "" : `?${text}`}` || "/", { replace: true });
}
