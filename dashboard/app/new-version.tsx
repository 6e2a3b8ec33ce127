import { Problem } from "../parts/problem.tsx";

/** A file of an older version that the service no longer has (HTML Standard, "fetch a module script"). */
const isMissingFile = (error: unknown): boolean =>
  error instanceof TypeError && /dynamically imported module|module script/i.test(error.message);

/** Instead of a page that cannot be shown. */
export function NewVersion({ error }: { readonly error: unknown }) {
  const reload = (): void => location.reload();
  if (!isMissingFile(error)) return <Problem error={error} retry={reload} />;
  return (
    <div class="notice" role="alert">
      <div>
        <h2>There is a new version of the dashboard</h2>
        <p>This tab has an older one, and the service no longer has this page of it. Jobs are not affected.</p>
      </div>
      <button type="button" class="primary" onClick={reload}>
        Reload
      </button>
    </div>
  );
}
