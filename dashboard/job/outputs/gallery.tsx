// The images of an output.
import { useState } from "preact/hooks";

/** More are shown on request. */
const FIRST = 24;

export function Gallery({ urls, name }: { readonly urls: readonly string[]; readonly name: string }) {
  const images = urls.filter((url) => !/\.vtt$/i.test(url));
  const [all, setAll] = useState(false);
  const [missing, setMissing] = useState(false);
  if (images.length === 0) return null;
  const shown = all ? images : images.slice(0, FIRST);
  return (
    <div class="gallery">
      {missing && (
        <p class="detail">
          Some images cannot be loaded: the storage may not let them be read, or no longer have them.
        </p>
      )}
      <ul>
        {shown.map((url, index) => (
          <li key={url}>
            <a href={url} target="_blank" rel="noreferrer">
              <img
                src={url}
                alt={`${name}, ${index + 1} of ${images.length}`}
                loading="lazy"
                decoding="async"
                referrerpolicy="no-referrer"
                onError={() => setMissing(true)}
              />
            </a>
          </li>
        ))}
      </ul>
      {shown.length < images.length && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {images.length} images
        </button>
      )}
    </div>
  );
}
