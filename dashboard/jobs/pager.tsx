// Pages of the list: older jobs, and back.
import { useKeys } from "../core/keyboard.ts";
import { navigate } from "../core/location.ts";
import { paramsOf, type View } from "./filter.ts";
import { PAGE } from "./job-list.ts";

function open(view: View, cursor: string): void {
  const params = Object.entries(paramsOf({ ...view, cursor })).filter(([, value]) => value !== "");
  const text = new URLSearchParams(params).toString();
  navigate(text === "" ? "/" : `/?${text}`);
  scrollTo(0, 0);
}

export function Pager({ view, next }: { readonly view: View; readonly next: string | null }) {
  const hasNewer = view.cursor !== "";
  useKeys(
    {
      "]": { help: "Older jobs", run: () => next !== null && open(view, next), when: () => next !== null },
      "[": { help: "The page before", run: () => history.back(), when: () => hasNewer },
    },
    "List of jobs",
  );
  if (next === null && !hasNewer) return null;
  return (
    <nav class="pager row" aria-label="Pages of the list">
      {hasNewer && (
        <button type="button" onClick={() => open(view, "")}>
          Newest jobs
        </button>
      )}
      {next !== null && (
        <button type="button" onClick={() => open(view, next)}>
          Older jobs
        </button>
      )}
      <span class="muted">Pages of {PAGE} jobs</span>
    </nav>
  );
}
