// The pages by their paths, for signed-in users.
import { lazy, Suspense } from "preact/compat";
import { useErrorBoundary } from "preact/hooks";
import { path } from "../core/location.ts";
import { account, session } from "../core/session.ts";
import { JobsPage } from "../jobs/jobs-page.tsx";
import { Button } from "../parts/controls/button.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { ConfirmDialog } from "../parts/overlays/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Layout } from "./layout.tsx";
import { SignInPage } from "./sign-in-page.tsx";

const AccountsPage = lazy(() => import("../settings/accounts-card.tsx"));
const JobPage = lazy(() => import("../job/job-page.tsx"));
const NewJobPage = lazy(() => import("../new-job/new-job-page.tsx"));
const NodesPage = lazy(() => import("../nodes/nodes-page.tsx"));
const TemplatesPage = lazy(() => import("../templates/templates-page.tsx"));
const UsagePage = lazy(() => import("../usage/usage-page.tsx"));
const SettingsPage = lazy(() => import("../settings/settings-page.tsx"));

function NotFound() {
  return (
    <Empty title="There is no such page">
      <p>
        Go to the <Link to="/">jobs</Link>, or read the <a href="/docs">documentation</a>.
      </p>
    </Empty>
  );
}

function Page() {
  // Pages of the service and of this browser need no account.
  if (path.value === "/nodes") return <NodesPage />;
  if (path.value === "/settings") return <SettingsPage />;
  if (account.value === null) return <AccountsPage />;
  const job = /^\/jobs\/([^/]+)$/.exec(path.value)?.[1];
  if (job !== undefined) return <JobPage id={decodeURIComponent(job)} />;
  if (path.value === "/new") return <NewJobPage />;
  if (path.value === "/templates") return <TemplatesPage />;
  if (path.value === "/usage") return <UsagePage />;
  if (path.value === "/") return <JobsPage />;
  return <NotFound />;
}

/** The page, or the reason why it is not shown. Another path tries again. */
function GuardedPage() {
  const [error] = useErrorBoundary((reason) => console.error(reason));
  if (error) return <NewVersion error={error} />;
  return (
    <Suspense fallback={<Loading />}>
      <Page />
    </Suspense>
  );
}

export function App() {
  if (session.value === undefined) return null;
  if (session.value === null) {
    return [<SignInPage key="sign-in" />, <ConfirmDialog key="confirm" />];
  }
  return (
    <Layout>
      {/* Another account has other data: its pages are mounted again. */}
      <GuardedPage key={`${account.value?.id} ${path.value}`} />
    </Layout>
  );
}

/** True if the service no longer has the file of an older version (HTML Standard, "fetch a module script"). */
const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);

/** Shown instead of a page that failed to load or to render. */
function NewVersion({ error }: { readonly error: unknown }) {
  const reload = (): void => location.reload();
  if (!isMissingFile(error)) return <Problem error={error} retry={reload} />;
  return (
    <div class="notice" role="alert">
      <div>
        <h2>There is a new version of the dashboard</h2>
        <p>This tab has an older version, and the service no longer has this page. Jobs are not affected.</p>
      </div>
      <Button text="Reload" class="primary" onClick={reload} />
    </div>
  );
}
