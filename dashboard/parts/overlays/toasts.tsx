// Short messages about recent events, at the edge of the page.
import { signal } from "@preact/signals";
import { Icon } from "../icon.tsx";

type Toast = { readonly id: number; readonly text: string; readonly kind: "done" | "failed" };
const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS = 6000;
let last = 0;

const remove = (id: number): void => {
  toasts.value = toasts.peek().filter((other) => other.id !== id);
};

/** Reports a completed action, or an error. An error stays until the person closes it. */
export function toast(text: string, kind: Toast["kind"] = "done"): void {
  last += 1;
  const id = last;
  toasts.value = [...toasts.peek().slice(-3), { id, text, kind }];
  if (kind === "done") setTimeout(() => remove(id), SHOWN_MS);
}

/** Reports an error. */
export const toastError = (error: unknown): void =>
  toast(error instanceof Error ? error.message : String(error), "failed");

/** Reports the end of an action: `done`, or its error. Resolves with true after success. */
export async function report(action: Promise<unknown>, done: string): Promise<boolean> {
  try {
    await action;
    toast(done);
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}

/** The place for the messages; once in the app. */
export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === "done" ? "check" : "warning"} />
          <p>{text}</p>
          <button type="button" class="quiet" aria-label="Close the message" onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
