import type { ComponentChildren } from "preact";

/** What is wider than the page, such as a table: it scrolls by itself, also by keyboard. `label`: what it is. */
export function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable
    <section class="table" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
