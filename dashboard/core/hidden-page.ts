// Whether nobody has looked at a page for long.
import { type ReadonlySignal, signal } from "@preact/signals";

/** True while `page` has been hidden for `ms`, also when it was opened in the background. */
export function hiddenFor(page: Pick<Document, "hidden" | "addEventListener">, ms: number): ReadonlySignal<boolean> {
  const isHidden = signal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (!page.hidden) isHidden.value = false;
    else {
      timer = setTimeout(() => {
        isHidden.value = true;
      }, ms);
    }
  };
  page.addEventListener("visibilitychange", look);
  look();
  return isHidden;
}
