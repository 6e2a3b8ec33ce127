import type { ComponentChildren } from "preact";

/**
 * Content that may be wider than the page, such as a table. It scrolls by itself, also by keyboard. `label`: its name.
 */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable
    <section class="table" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
