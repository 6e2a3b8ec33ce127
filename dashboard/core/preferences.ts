// What a person prefers, kept in this browser only.
import { effect, signal } from "@preact/signals";

/** A view of the list of jobs that somebody has named: the address of the page. */
export type SavedView = { readonly name: string; readonly address: string };

export type Preferences = {
  readonly theme: "system" | "light" | "dark";
  /** True if single letters are shortcuts. */
  readonly shortcuts: boolean;
  /** The account that an operator looks at. */
  readonly account: string | null;
  /** US dollars per minute of output that another service would charge; null: the list prices of the usage page. */
  readonly prices: Readonly<Record<string, number>> | null;
  readonly views: readonly SavedView[];
};

const DEFAULTS: Preferences = { theme: "system", shortcuts: true, account: null, prices: null, views: [] };
const NAME = "copra.preferences";

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    // Storage may be switched off, or hold something else.
    return DEFAULTS;
  }
}

export const preferences = signal<Preferences>(read());

/** Changes preferences, and keeps them. */
export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.peek(), ...changes };
  try {
    localStorage.setItem(NAME, JSON.stringify(preferences.peek()));
  } catch {
    // Then they last as long as the page.
  }
}

globalThis.addEventListener?.("storage", ({ key }) => {
  if (key === NAME) preferences.value = read();
});

effect(() => {
  const root = globalThis.document?.documentElement;
  if (!root) return;
  if (preferences.value.theme === "system") delete root.dataset.theme;
  else root.dataset.theme = preferences.value.theme;
});
