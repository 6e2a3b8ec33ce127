import { CopyButton } from "./copy-button.tsx";

/** Text to read and copy, such as a command or JSON. `label`: the name of the text. `wrap`: breaks long lines. */
export function CodeBlock({
  text,
  label,
  wrap = false,
}: {
  readonly text: string;
  readonly label: string;
  readonly wrap?: boolean;
}) {
  return (
    <figure class="code">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={text} />
      </figcaption>
      {/* Focusable, so that the keyboard can scroll it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable */}
      <pre tabIndex={0} class={wrap ? "wrap" : undefined}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
