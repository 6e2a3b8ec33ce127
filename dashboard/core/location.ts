// The location of the visible page: path, query and fragment below /dashboard, as signals.
import { computed, effect, signal } from "@preact/signals";

export const BASE = "/dashboard";

const current = signal(new URL(globalThis.location?.href ?? `http://localhost${BASE}`));
const readLocation = (): void => {
  current.value = new URL(globalThis.location.href);
};
globalThis.addEventListener?.("popstate", readLocation);
globalThis.addEventListener?.("hashchange", readLocation);

/** The path below /dashboard, such as `/jobs/01J…`; `/` for the first page. */
export const path = computed(() => current.value.pathname.slice(BASE.length).replace(/(?<!\/)\/+$/, "") || "/");

/** The parameters of the query. */
export const query = computed(() => current.value.searchParams);

/** The fragment without `#`, as it is in the URL. */
export const fragment = computed(() => current.value.hash.slice(1));

/** The URL of a page, for links. `to` starts with `/` and may have a query and a fragment. */
export const href = (to: string): string => `${BASE}${to.replace(/^\/(?=$|[?#])/, "")}`;

/** The last query of each visited page, by path. */
const queries = new Map<string, string>();
effect(() => {
  queries.set(path.value, current.value.search);
});

/** A page with its last query: the way back to a filtered list. */
export const lastShown = (to: string): string => `${to}${queries.get(to) ?? ""}`;

/** Shows another page, without a request. `replace`: the browser's "back" skips the present page. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  globalThis.history[replace ? "replaceState" : "pushState"](null, "", href(to));
  readLocation();
}

/** Sets parameters of the query in place. Removes the fragment, and parameters with an empty value. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(`${path.value}${text === "" ? "" : `?${text}`}`, { replace: true });
}
