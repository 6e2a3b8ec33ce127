// The pages by their paths.
import { lazy, Suspense } from "preact/compat";
import { path } from "../core/location.ts";
import { JobsPage } from "../jobs/jobs-page.tsx";
import { Layout } from "./layout.tsx";

const JobPage = lazy(() => import("../job/job-page.tsx"));
const NewJobPage = lazy(() => import("../new-job/new-job-page.tsx"));
const NodesPage = lazy(() => import("../nodes/nodes-page.tsx"));
const UsagePage = lazy(() => import("../usage/usage-page.tsx"));
const SettingsPage = lazy(() => import("../settings/settings-page.tsx"));

function Page() {
  const job = /^\/jobs\/([^/]+)$/.exec(path.value)?.[1];
  if (job !== undefined) return <JobPage id={decodeURIComponent(job)} />;
  if (path.value === "/new") return <NewJobPage />;
  if (path.value === "/nodes") return <NodesPage />;
  if (path.value === "/usage") return <UsagePage />;
  if (path.value === "/settings") return <SettingsPage />;
  return <JobsPage />;
}

export function App() {
  return (
    <Layout>
      <Suspense fallback={<p>Loading …</p>}>
        <Page />
      </Suspense>
    </Layout>
  );
}
