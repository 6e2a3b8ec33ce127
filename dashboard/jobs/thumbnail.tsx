// The thumbnail of a job: one of its own images, unless the browser could not read it.
import { signal } from "@preact/signals";
import type { Job } from "../../client/index.ts";
import { thumbnailOf } from "./rows.ts";

/** Private buckets do not serve images. */
const unreadable = signal<ReadonlySet<string>>(new Set());

export function imageOf(job: Job): string | undefined {
  const url = thumbnailOf(job);
  return url === undefined || unreadable.value.has(url) ? undefined : url;
}

export function Thumbnail({ job }: { readonly job: Job }) {
  const url = imageOf(job);
  if (url === undefined) return null;
  return (
    <img
      class="thumbnail"
      src={url}
      alt=""
      loading="lazy"
      decoding="async"
      onError={() => {
        unreadable.value = new Set([...unreadable.peek(), url]);
      }}
    />
  );
}
