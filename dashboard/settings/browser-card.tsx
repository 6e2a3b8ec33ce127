// Data that this browser keeps.
import { type Preferences, prefer, preferences } from "../core/preferences.ts";
import { Link } from "../parts/link.tsx";

const THEMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const satisfies readonly (readonly [Preferences["theme"], string])[];

export function BrowserCard() {
  const { theme, shortcuts, prices } = preferences.value;
  return (
    <section class="card" aria-labelledby="settings-browser">
      <header>
        <h2 id="settings-browser">This browser</h2>
      </header>
      <div class="body stack">
        <fieldset class="field">
          <legend>Theme</legend>
          <div class="row">
            {THEMES.map(([name, label]) => (
              <label key={name} class="check">
                <input type="radio" name="theme" checked={theme === name} onChange={() => prefer({ theme: name })} />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        <fieldset class="field">
          <legend>Keyboard</legend>
          <label class="check">
            <input
              type="checkbox"
              checked={shortcuts}
              onChange={(event) => prefer({ shortcuts: event.currentTarget.checked })}
            />
            Single letters are shortcuts
          </label>
          <p class="help">
            Press <kbd>?</kbd> for a list. Switch them off if you dictate text.
          </p>
        </fieldset>
        <div class="field">
          <h3>Prices to compare with</h3>
          <p class="row">
            {prices === null ? "List prices." : "Your own prices."}{" "}
            <Link to="/usage">Change them on the usage page</Link>
            {prices !== null && (
              <button type="button" onClick={() => prefer({ prices: null })}>
                Back to list prices
              </button>
            )}
          </p>
        </div>
      </div>
    </section>
  );
}
