// The keyboard shortcuts of what is shown.
import type { JSX } from "preact";
import { shortcutGroups } from "../core/keyboard.ts";
import { prefer, preferences } from "../core/preferences.ts";
import { Dialog } from "../parts/overlays/dialog.tsx";

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  " ": "Space",
};

/** `j, ArrowDown` as keys: "j or ↓"; `g j` as "g then j". */
function Keys({ keys }: { readonly keys: string }) {
  const parts: (JSX.Element | string)[] = [];
  for (const [at, one] of keys.split(", ").entries()) {
    if (at > 0) parts.push(" or ");
    for (const [place, key] of (one === " " ? [one] : one.split(" ")).entries()) {
      if (place > 0) parts.push(" then ");
      parts.push(<kbd key={`${at} ${place}`}>{NAMES[key] ?? key}</kbd>);
    }
  }
  return <>{parts}</>;
}

export function HelpDialog({ close }: { readonly close: () => void }) {
  const titles = [...new Set(shortcutGroups.value.toReversed().map(({ title }) => title))];
  const listed = (wanted: string) =>
    shortcutGroups.value
      .filter(({ title }) => title === wanted)
      .flatMap(({ keys }) => Object.entries(keys).filter(([, { when }]) => when?.() ?? true));
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <div class="dialog-body shortcuts">
        {titles.map((title) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {listed(title).map(([name, { help }]) => (
                <div key={name}>
                  <dt>{help}</dt>
                  <dd>
                    <Keys keys={name} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={preferences.value.shortcuts}
            onChange={(event) => prefer({ shortcuts: event.currentTarget.checked })}
          />
          Single letters are shortcuts
        </label>
      </div>
    </Dialog>
  );
}
