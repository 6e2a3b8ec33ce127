import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

const SHOWN_MS = 1500;

/** Copies a text. `label`: the name of the text, for people who do not see the button's surroundings. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  readonly text: string | (() => string);
  readonly label?: string;
}) {
  const [result, setResult] = useState<"copied" | "failed" | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    const copied = await navigator.clipboard.writeText(typeof text === "string" ? text : text()).then(
      () => true,
      () => false,
    );
    setResult(copied ? "copied" : "failed");
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setResult(null), SHOWN_MS);
  };
  return (
    <button type="button" class="quiet copy" onClick={copy}>
      <Icon name={result === "copied" ? "check" : "copy"} />
      <span aria-live="polite">{result === "copied" ? "Copied" : result === "failed" ? "Not copied" : label}</span>
    </button>
  );
}
