// Which page is shown: the path, query and fragment below /dashboard, as signals.
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

/** The fragment without `#`, as it is in the address. */
export const fragment = computed(() => current.value.hash.slice(1));

/** The address of a page, for links. `to` begins with `/` and may have a query and a fragment. */
export const href = (to: string): string => `${BASE}${to.replace(/^\/(?=$|[?#])/, "")}`;

/** The queries of the pages that were shown, by their paths. */
const shown = new Map<string, string>();
effect(() => {
  shown.set(path.value, current.value.search);
});

/** A page as it was when it was shown last, with its query: the way back to a list that was searched. */
export const lastShown = (to: string): string => `${to}${shown.get(to) ?? ""}`;

/** Shows another page, without a request. `replace`: the browser's "back" skips the present one. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  globalThis.history[replace ? "replaceState" : "pushState"](null, "", href(to));
  readLocation();
}

/** Sets parameters of the query in place; those with an empty value are removed. The fragment is removed. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === "") next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  navigate(`${path.value}${text === "" ? "" : `?${text}`}`, { replace: true });
}
