// The tags of the filter: chips that remove a tag, and a field for another tag.
import { useState } from "preact/hooks";
import { MAX_FILTER_TAGS } from "../../shared/job/tag-query.ts";
import { limited, type View } from "./filter.ts";

type Tags = View["tags"];

export function TagFields({ tags, show }: { readonly tags: Tags; readonly show: (tags: Tags) => void }) {
  const [text, setText] = useState("");
  const add = (event: Event): void => {
    event.preventDefault();
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(0, at)).trim();
    const next = limited({ ...tags, [name]: text.slice(at + 1).trim() });
    if (next[name] === undefined) return;
    setText("");
    show(next);
  };
  return (
    <>
      {Object.entries(tags).map(([name, value]) => (
        <button
          type="button"
          key={name}
          class="filter-chip"
          aria-pressed
          aria-label={`Without the tag ${name}=${value}`}
          onClick={() => show(Object.fromEntries(Object.entries(tags).filter(([other]) => other !== name)))}
        >
          {`${name}=${value}`} <span aria-hidden="true">×</span>
        </button>
      ))}
      {Object.keys(tags).length < MAX_FILTER_TAGS && (
        <form class="tag-field" onSubmit={add}>
          <input
            type="text"
            aria-label="Tag"
            placeholder="tag=value"
            pattern="\s*[a-z0-9_.\-]{1,40}\s*=.+"
            title="The name and the value of a tag, such as tenant=a"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </form>
      )}
    </>
  );
}
