import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

type Props = {
  readonly title: ComponentChildren;
  /** Beside the title: buttons, or a remark. */
  readonly actions?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
};

/** A part of a page with a title. */
export function Card({ title, actions, class: kind = "", children }: Props) {
  const id = useId();
  return (
    <section class={`card ${kind}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
