// Errors for people: the cause, and a next step.
import { CopraError } from "../../client/index.ts";
import { Icon } from "./icon.tsx";

/** An error with its field and code, and a button to try again. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: (() => void) | undefined }) {
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
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
