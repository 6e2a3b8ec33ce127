// The present time as a signal, for relative times.
import { signal } from "@preact/signals";

let timer: ReturnType<typeof setInterval> | undefined;

/** ms since 1970. Changes each second while a component shows it and the tab is visible. */
export const now = signal(Date.now(), {
  watched: () => {
    now.value = Date.now();
    timer = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, 1000);
  },
  unwatched: () => clearInterval(timer),
});
