// Data that this browser keeps.
import { type Preferences, prefer, preferences } from "../core/preferences.ts";
import { Card } from "../parts/card.tsx";
import { Check } from "../parts/controls/form.tsx";

const THEMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const satisfies readonly (readonly [Preferences["theme"], string])[];

export function BrowserCard() {
  const { theme, shortcuts } = preferences.value;
  return (
    <Card title="This browser">
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
          <Check label="Single letters are shortcuts" checked={shortcuts} set={(on) => prefer({ shortcuts: on })} />
          <p class="help">
            Press <kbd>?</kbd> for a list. Switch them off if you dictate text.
          </p>
        </fieldset>
      </div>
    </Card>
  );
}
