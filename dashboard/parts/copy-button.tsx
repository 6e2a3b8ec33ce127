import { useState } from "preact/hooks";

const SHOWN_MS = 1500;

/** Copies a text. `label` says what, for those who do not see the button's surroundings. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={copy}>
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </button>
  );
}
