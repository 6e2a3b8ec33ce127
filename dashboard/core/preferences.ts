// The preferences of a person, kept only in this browser.
import { effect, signal } from "@preact/signals";

/** A named view of the list of jobs: the URL of the page. */
export type SavedView = { readonly name: string; readonly address: string };

export type Preferences = {
  readonly theme: "system" | "light" | "dark";
  /** True if single letters are shortcuts. */
  readonly shortcuts: boolean;
  /** The account that an operator looks at. */
  readonly account: string | null;
  readonly views: readonly SavedView[];
  /** Columns of the list of jobs, separated by commas; null: the usual columns. */
  readonly columns: string | null;
};

const DEFAULTS: Preferences = { theme: "system", shortcuts: true, account: null, views: [], columns: null };
const NAME = "copra.preferences";

function read(): Preferences {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
  } catch {
    // Storage may be switched off, or hold other data.
    return DEFAULTS;
  }
}

export const preferences = signal<Preferences>(read());

/** Changes preferences and stores them. */
export function prefer(changes: Partial<Preferences>): void {
  preferences.value = { ...preferences.peek(), ...changes };
  try {
    localStorage.setItem(NAME, JSON.stringify(preferences.peek()));
  } catch {
    // Without storage the preferences last as long as the page.
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
