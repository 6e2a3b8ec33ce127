// "Paste an old request": converts a request for another service to this service.
import { useId, useState } from "preact/hooks";
import { type Conversion, convertText } from "../../../shared/convert/convert.ts";
import type { Note } from "../../../shared/convert/note.ts";
import { OLD_SERVICES, type OldService, SERVICE_NAMES } from "../../../shared/convert/services.ts";
import { Dialog } from "../../parts/overlays/dialog.tsx";
import type { Json } from "../secrets.ts";

const isService = (text: string): text is OldService => OLD_SERVICES.some((name) => name === text);

export function PasteDialog({
  close,
  use,
}: {
  readonly close: () => void;
  readonly use: (request: Json, notes: readonly Note[]) => void;
}) {
  const id = useId();
  const [text, setText] = useState("");
  const [service, setService] = useState<OldService | undefined>(undefined);
  const result: Conversion | null = text.trim() === "" ? null : convertText(text, service);
  const take = (): void => {
    if (!result?.ok) return;
    use({ ...result.converted.request }, result.converted.notes);
    close();
  };
  return (
    <Dialog title="Paste an old request" close={close} wide>
      <div class="dialog-body">
        <div class="field">
          <label for={`${id}-service`}>Of</label>
          <select
            id={`${id}-service`}
            value={service ?? ""}
            onChange={({ currentTarget: { value } }) => setService(isService(value) ? value : undefined)}
          >
            <option value="">{result?.ok && service === undefined ? SERVICE_NAMES[result.service] : "Find out"}</option>
            {OLD_SERVICES.map((name) => (
              <option key={name} value={name}>
                {SERVICE_NAMES[name]}
              </option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for={`${id}-text`}>Its JSON, or a configuration of Coconut's first API</label>
          <textarea
            id={`${id}-text`}
            rows={12}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <div aria-live="polite">
          {result !== null && !result.ok && <p class="invalid">{result.error}</p>}
          {result?.ok && <Notes notes={result.converted.notes} />}
        </div>
        <p class="detail">The text stays in this browser.</p>
      </div>
      <footer>
        <button type="button" onClick={close}>
          Back
        </button>
        <button type="button" class="primary" disabled={!result?.ok} onClick={take}>
          Use it
        </button>
      </footer>
    </Dialog>
  );
}

const TITLES: Readonly<Record<Note["level"], string>> = {
  todo: "To fill in",
  lost: "Not carried over",
  changed: "Works differently",
};

/** The notes of a conversion, by level. */
export function Notes({ notes }: { readonly notes: readonly Note[] }) {
  if (notes.length === 0) return <p role="status">Everything was carried over.</p>;
  return (
    <div class="stack">
      {(["todo", "lost", "changed"] as const).map((level) => {
        const levelNotes = notes.filter((note) => note.level === level);
        return levelNotes.length === 0 ? null : (
          <section key={level}>
            <p>
              <strong>
                {TITLES[level]} <span class="chip">{levelNotes.length}</span>
              </strong>
            </p>
            <ul class="notes">
              {levelNotes.map(({ field, message }) => (
                <li key={`${field} ${message}`}>
                  <code>{field}</code> {message}
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}
