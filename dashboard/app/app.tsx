// The pages by their paths, for those who are signed in.
import { Suspense } from "preact/compat";
import { useErrorBoundary } from "preact/hooks";
import { path } from "../core/location.ts";
import { account, session } from "../core/session.ts";
import { JobsPage } from "../jobs/jobs-page.tsx";
import { Empty } from "../parts/empty.tsx";
import { Link } from "../parts/link.tsx";
import { Loading } from "../parts/loading.tsx";
import { ConfirmDialog } from "../parts/overlays/dialog.tsx";
import { AccountChoice } from "./account-choice.tsx";
import { Layout } from "./layout.tsx";
import { lazyPage } from "./lazy-page.ts";
import { NewVersion } from "./new-version.tsx";
import { SignInPage } from "./sign-in-page.tsx";

const JobPage = lazyPage("job-page", () => import("../job/job-page.tsx"));
const NewJobPage = lazyPage("new-job-page", () => import("../new-job/new-job-page.tsx"));
const NodesPage = lazyPage("nodes-page", () => import("../nodes/nodes-page.tsx"));
const UsagePage = lazyPage("usage-page", () => import("../usage/usage-page.tsx"));
const SettingsPage = lazyPage("settings-page", () => import("../settings/settings-page.tsx"));

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
  if (account.value === null) return <AccountChoice />;
  const job = /^\/jobs\/([^/]+)$/.exec(path.value)?.[1];
  if (job !== undefined) return <JobPage key={job} id={decodeURIComponent(job)} />;
  if (path.value === "/new") return <NewJobPage />;
  if (path.value === "/usage") return <UsagePage />;
  if (path.value === "/") return <JobsPage />;
  return <NotFound />;
}

/** The page, or what keeps it from being shown; another path tries again. */
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
    return (
      <>
        <SignInPage />
        <ConfirmDialog />
      </>
    );
  }
  return (
    <Layout>
      {/* Another account has other data: its pages start again. */}
      <GuardedPage key={`${account.value?.id} ${path.value}`} />
    </Layout>
  );
}
