// A section or a request as JSON to edit.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Problem } from "../../parts/problem.tsx";
import { isObject, type Json } from "../secrets.ts";
import type { Editor, Failure } from "./code-editor.ts";

type Props = {
  readonly label: string;
  /** The JSON, in which secrets may be hidden. */
  readonly shown: Json;
  /** Receives valid JSON as it is typed; null while the text is not valid. */
  readonly set: (edited: Json | null) => void;
  /** Runs with Ctrl Enter. */
  readonly send: () => void;
  readonly invalid: Failure | null;
  /** Beside the label. */
  readonly children?: ComponentChildren;
  readonly help: string;
};

function parse(text: string): { readonly value: Json } | { readonly message: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value } : { message: "It must be a JSON object" };
  } catch (error) {
    return { message: error instanceof Error ? error.message : String(error) };
  }
}
const print = (value: Json): string => JSON.stringify(value, null, 2);

export function JsonEditor(props: Props) {
  const { label, shown, invalid, children, help } = props;
  const id = useId();
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [message, setMessage] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [isOpen, setOpen] = useState(false);
  const text = print(shown);
  /** Shows the present value, unless the text has the same value, or is not valid: people fix it. */
  const follow = (): void => {
    const parsed = parse(editor.current?.view.state.doc.toString() ?? "");
    const { shown: present } = latest.current;
    if ("value" in parsed && print(parsed.value) !== print(present)) editor.current?.replace(print(present));
  };
  const change = (typed: string): void => {
    const parsed = parse(typed);
    setMessage("message" in parsed ? parsed.message : null);
    latest.current.set("value" in parsed ? parsed.value : null);
  };
  useEffect(() => {
    let isClosed = false;
    // The browser moves the focus after this event.
    const leave = (): void => void setTimeout(follow);
    const attributes = { "aria-label": label, "aria-describedby": `${id}-below` };
    const send = (): void => latest.current.send();
    import("./code-editor.ts").then(({ openEditor }) => {
      if (isClosed || !place.current) return;
      const first = print(latest.current.shown);
      editor.current = openEditor(place.current, first, { attributes, change, leave, send });
      setOpen(true);
    }, setFailure);
    return () => {
      isClosed = true;
      editor.current?.view.destroy();
      editor.current = null;
    };
  }, []);
  const problem = message === null ? invalid : { field: undefined, message };
  useEffect(() => {
    if (editor.current?.view.hasFocus === false) follow();
  }, [text]);
  useEffect(() => editor.current?.mark(problem), [problem?.field, problem?.message, text, isOpen]);
  return (
    <div class="field">
      <div class="row">
        <span>{label}</span>
        <span class="spring">{children}</span>
      </div>
      {failure !== null && <Problem error={failure} />}
      {/* Takes the keys until the editor's script has arrived: they would be shortcuts of the page. */}
      {!isOpen && failure === null && <textarea aria-label="The editor is loading" readOnly value={text} />}
      <div ref={place} class="json" />
      <p id={`${id}-below`} class={problem === null ? "help" : "invalid"}>
        {problem?.message ?? help}
      </p>
    </div>
  );
}
