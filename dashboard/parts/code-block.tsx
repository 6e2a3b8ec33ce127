import { CopyButton } from "./copy-button.tsx";

/** Text to read and copy, such as a command or JSON. `label`: what it is. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <figure class="code">
      <figcaption>
        {label} <CopyButton text={text} />
      </figcaption>
      {/* Focusable, so that it can be scrolled by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
