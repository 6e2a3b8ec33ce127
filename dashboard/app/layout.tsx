// The parts that all pages share: navigation, the account, help, messages.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { EVERYWHERE, shortcutGroups, useKeys } from "../core/keyboard.ts";
import { navigate, path } from "../core/location.ts";
import { prefer, preferences } from "../core/preferences.ts";
import { account, isOpen, type Needs, session } from "../core/session.ts";
import { Button } from "../parts/controls/button.tsx";
import { Check } from "../parts/controls/form.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { ConfirmDialog, Dialog } from "../parts/overlays/dialog.tsx";
import { Toasts } from "../parts/overlays/toasts.tsx";
import { Brand } from "./brand.tsx";
import { Keys } from "./keys.tsx";
import { Palette } from "./palette.tsx";
import "./layout.css";

type Entry = Needs & {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** The page of /docs about it. */
  readonly guide: string;
  readonly keys: string;
};
const ENTRIES: readonly Entry[] = [
  { to: "/", label: "Jobs", icon: "jobs", guide: "job-lists", keys: "g j", needs: ["account"] },
  { to: "/new", label: "New job", icon: "add", guide: "recipes", keys: "n", needs: ["account"] },
  { to: "/templates", label: "Templates", icon: "template", guide: "templates", keys: "g t", needs: ["account"] },
  { to: "/nodes", label: "Nodes", icon: "nodes", guide: "nodes", keys: "g n", needs: ["operator"] },
  { to: "/usage", label: "Usage", icon: "usage", guide: "usage", keys: "g u", needs: ["account"] },
  { to: "/settings", label: "Settings", icon: "settings", guide: "dashboard", keys: "g s", needs: [] },
];

/** The page of /docs about the visible page: `/docs/job-details` on the page of a job. */
function guideHref(): string {
  if (path.value.startsWith("/jobs/")) return "/docs/job-details";
  const guide = ENTRIES.find(({ to }) => to === path.value)?.guide;
  return guide === undefined ? "/docs" : `/docs/${guide}`;
}

export function Layout({ children }: { readonly children: ComponentChildren }) {
  const [isHelpOpen, openHelp] = useState(false);
  const [isPaletteOpen, openPalette] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts(() => openHelp(true));
  usePaletteKey(() => openPalette(true));
  useNewPage(main.current);
  return (
    <div class="layout">
      <Button text="Skip to the page" class="primary skip" onClick={() => main.current?.focus()} />
      <header class="rail">
        <Link to="/" class="home">
          <Brand />
        </Link>
        <nav aria-label="Pages">
          {ENTRIES.filter(isOpen).map(({ to, label, icon }) => (
            <Link key={to} to={to}>
              <Icon name={icon} />
              <span>{label}</span>
            </Link>
          ))}
        </nav>
        <div class="rail-tools">
          <Link to="/settings" class="account">
            <span class="visually-hidden">Account:</span>
            <span class="ellipsis">{account.value?.name ?? "No account"}</span>
            {session.value?.operator && <span class="chip">operator</span>}
          </Link>
          <button type="button" class="quiet go-to" onClick={() => openPalette(true)}>
            <Icon name="search" />
            <span class="wide-only">Go to …</span>
            <kbd>{COMMAND_KEY} K</kbd>
          </button>
          <a href={guideHref()} target="_blank" rel="noreferrer" class="docs">
            <Icon name="external" />
            <span class="wide-only">Documentation</span>
          </a>
          <button type="button" class="quiet help" onClick={() => openHelp(true)}>
            <Icon name="help" />
            <span class="wide-only">Shortcuts</span>
            <kbd>?</kbd>
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      {isHelpOpen && <HelpDialog close={() => openHelp(false)} />}
      {isPaletteOpen && <Palette close={() => openPalette(false)} />}
      <ConfirmDialog />
      <Toasts />
    </div>
  );
}

function useShortcuts(openHelp: () => void): void {
  const pages = ENTRIES.map((entry) => {
    return [entry.keys, { help: entry.label, run: () => navigate(entry.to), when: () => isOpen(entry) }] as const;
  });
  useKeys({ "?": { help: "Show the shortcuts", run: openHelp }, ...Object.fromEntries(pages) }, EVERYWHERE);
}

/** The modifier key for the palette. With K, browsers leave it to pages; it is ⌘ on Apple's machines. */
const COMMAND_KEY = /Mac|iP/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl";

/** Opens the palette with Ctrl K or ⌘ K, also while the focus is in a text field. */
function usePaletteKey(openPalette: () => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog:modal")) return;
      event.preventDefault();
      openPalette();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

/** Sets the tab's title to the page's name, and moves the focus to the start of a new page. */
function useNewPage(main: HTMLElement | null): void {
  const lastPath = useRef(path.value);
  useEffect(() => {
    const label = ENTRIES.find(({ to }) => to === path.value)?.label ?? path.value.replace(/^\/jobs\//, "Job ");
    document.title = `${label} · Copra`;
    if (lastPath.current === path.value) return;
    lastPath.current = path.value;
    main?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path.value]);
}

/** Lists the keyboard shortcuts that work now. */
function HelpDialog({ close }: { readonly close: () => void }) {
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
        <Check
          label="Single letters are shortcuts"
          checked={preferences.value.shortcuts}
          set={(on) => prefer({ shortcuts: on })}
        />
      </div>
    </Dialog>
  );
}
