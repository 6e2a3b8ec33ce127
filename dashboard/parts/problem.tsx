// Errors for people: what happened, and what they can do.
import { CopraError } from "../../client/index.ts";

/** An error with its field and code, and a button to try again. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const isKnown = error instanceof CopraError;
  return (
    <div class="problem" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {isKnown && (
        <p class="detail">
          {error.code}
          {error.requestId && ` · request ${error.requestId}`}
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
