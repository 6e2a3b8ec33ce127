// Errors for people: the cause, and a next step.
import { CopraError } from "../../client/index.ts";
import { Button } from "./controls/button.tsx";
import { Icon } from "./icon.tsx";

/** An error with its code, and a button to try again. Nothing without an error: undefined or null. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
  if (error === undefined || error === null) return null;
  const known = error instanceof CopraError ? error : undefined;
  return (
    <div class="problem" role="alert">
      <Icon name="warning" />
      <div>
        <p>{error instanceof Error ? error.message : String(error)}</p>
        {known && (
          <p class="detail">
            {known.code}
            {known.requestId && ` · request ${known.requestId}`}
          </p>
        )}
      </div>
      {retry && <Button text="Try again" onClick={retry} />}
    </div>
  );
}
