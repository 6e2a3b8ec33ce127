import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { CodeBlock } from "../code-block.tsx";
import { Button } from "./button.tsx";

/** A secret that the service returns only once. `label`: the name of the secret. */
export function ShownOnce({
  label,
  text,
  children,
  close,
}: {
  readonly label: string;
  readonly text: string;
  readonly children: ComponentChildren;
  readonly close: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => frame.current?.focus(), []);
  return (
    <div class="notice warn shown-once" ref={frame} tabIndex={-1} role="status">
      <CodeBlock label={label} text={text} wrap />
      <div class="row">
        <p>{children}</p>
        <Button text="Done" class="spring" onClick={close} />
      </div>
    </div>
  );
}
