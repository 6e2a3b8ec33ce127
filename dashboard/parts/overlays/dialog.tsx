// Modal dialogs of the browser, which trap the focus and close with Escape.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../controls/button.tsx";
import { Icon } from "../icon.tsx";

/** A modal dialog, open while it is rendered. Calls `close` when the person closes it. */
export function Dialog({
  title,
  close,
  children,
  wide = false,
}: {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // An effect would run after the next frame: keys until then would be shortcuts of the page.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Returns the focus. The browser would not do so for an element that is only removed.
    return () => element?.close();
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    close();
  };
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : undefined}
      aria-labelledby={id}
      onCancel={cancel}
      // A click beside the dialog hits this element: the dialog has no padding.
      onClick={(event) => event.target === dialog.current && close()}
      onKeyDown={(event) => event.key === "Escape" && cancel(event)}
    >
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

type Question = {
  readonly title: string;
  readonly text: ComponentChildren;
  /** The text of the button for the action, such as "Cancel 3 jobs". */
  readonly action: string;
  /** True if the action cannot be undone. */
  readonly danger?: boolean;
  readonly answer: (confirmed: boolean) => void;
};
const question = signal<Question | null>(null);

/** Asks before an action. Resolves with true if the person confirmed. */
export function confirm(options: Omit<Question, "answer">): Promise<boolean> {
  question.peek()?.answer(false);
  return new Promise((resolve) => {
    question.value = {
      ...options,
      answer: (confirmed) => {
        question.value = null;
        resolve(confirmed);
      },
    };
  });
}

/** The dialog of `confirm`; once in the app. */
export function ConfirmDialog() {
  const open = question.value;
  if (open === null) return null;
  return (
    <Dialog title={open.title} close={() => open.answer(false)}>
      <div class="dialog-body">{open.text}</div>
      <footer>
        <Button text="Back" onClick={() => open.answer(false)} />
        <Button text={open.action} class={open.danger ? "danger" : "primary"} onClick={() => open.answer(true)} />
      </footer>
    </Dialog>
  );
}
