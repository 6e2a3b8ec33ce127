// Named views of the list, kept in this browser.
import { useState } from "preact/hooks";
import { navigate } from "../core/location.ts";
import { prefer, preferences } from "../core/preferences.ts";
import { Button } from "../parts/controls/button.tsx";
import { withColumns } from "./columns.tsx";
import { addressOf, type View } from "./filter.ts";

const MAX_NAME = 40;

export function SavedViews({ view }: { readonly view: View }) {
  const { views } = preferences.value;
  const address = addressOf(withColumns({ ...view, cursor: "" }));
  const [naming, setNaming] = useState<string | null>(null);
  const open = views.find((saved) => saved.address === address);
  const others = (name: string) => views.filter((saved) => saved.name !== name);
  const save = (event: Event): void => {
    event.preventDefault();
    const name = naming?.trim() ?? "";
    if (name !== "") {
      prefer({ views: [...others(name), { name, address }] });
      navigate(address, { replace: true });
    }
    setNaming(null);
  };
  return (
    <>
      {views.length > 0 && (
        <fieldset class="chips">
          <legend class="visually-hidden">Saved views</legend>
          {views.map((saved) => (
            <Button
              key={saved.name}
              text={saved.name}
              class="filter-chip"
              aria-pressed={saved === open}
              onClick={() => navigate(saved.address)}
            />
          ))}
        </fieldset>
      )}
      {open && <Button text="Forget this view" class="quiet" onClick={() => prefer({ views: others(open.name) })} />}
      {address !== "/" && !open && naming === null && (
        <Button text="Save as …" class="quiet" onClick={() => setNaming("")} />
      )}
      {address !== "/" && !open && naming !== null && (
        <form class="row" onSubmit={save}>
          <input
            type="text"
            aria-label="Name of the view"
            placeholder="Name of the view"
            maxLength={MAX_NAME}
            // biome-ignore lint/a11y/noAutofocus: the button before it was pressed to type.
            autoFocus
            value={naming}
            onInput={(event) => setNaming(event.currentTarget.value)}
            onKeyDown={(event) => event.key === "Escape" && setNaming(null)}
          />
          <button type="submit">Save</button>
        </form>
      )}
    </>
  );
}
