import type { ComponentChildren } from "preact";

type Props = { readonly label: string; readonly class?: string | undefined; readonly children: ComponentChildren };

/**
 * Content that may be wider than the page, such as a table. It scrolls by itself, also by keyboard. `label`: its name.
 */
export function Scroll({ label, class: kind = "", children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable
    <section class={`table ${kind}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
