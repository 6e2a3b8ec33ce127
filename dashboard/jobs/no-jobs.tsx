// The content of the page when the list is empty.
import { useState } from "preact/hooks";
import type { JobRequest } from "../../client/index.ts";
import { navigate } from "../core/location.ts";
import { copra, url } from "../core/service.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Empty } from "../parts/empty.tsx";
import { Link } from "../parts/link.tsx";
import { Problem } from "../parts/problem.tsx";
import { isFiltered, NO_FILTER, type View } from "./filter.ts";
import { showView } from "./show-view.ts";

export function NoJobs({ view, next }: { readonly view: View; readonly next: string | null }) {
  if (next !== null)
    return (
      <Empty title="Nothing found so far">
        <p>A search reads 2,000 jobs at a time. There are older jobs.</p>
        <button type="button" onClick={() => showView(view, { cursor: next })}>
          Search on
        </button>
      </Empty>
    );
  if (isFiltered(view) || view.sort !== "" || view.cursor !== "")
    return (
      <Empty title="No job matches">
        <button type="button" onClick={() => showView(view, { ...NO_FILTER, sort: "" })}>
          Show all jobs
        </button>
      </Empty>
    );
  return <FirstJob />;
}

/** A job with the sample clip. It needs only a key: the service's own storage keeps the results for a day. */
const FIRST = {
  input: { url: `${url}/assets/sample.mp4` },
  storage: { service: "coconut" },
  notification: { type: "none" },
  outputs: {
    "mp4:240p": { path: "240p.mp4" },
    "jpg:320x": { path: "image-%02d.jpg", number: 3 },
  },
} satisfies JobRequest;

const firstCurl = (): string => `curl -u $API_KEY: ${url}/v2/jobs -d '${JSON.stringify(FIRST, null, 2)}'`;

const firstCommand = (): string => `npm run copra -- encode video.mov --to mp4:720p --to jpg:320x -o out --url ${url}`;

function FirstJob() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { id } = await copra.jobs.create(FIRST);
      navigate(`/jobs/${id}`);
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  };
  return (
    <Empty title="No jobs yet">
      <p>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void send()}>
          Try it with a sample
        </button>
      </p>
      {error !== undefined && <Problem error={error} />}
      <p>
        Or <Link to="/new">make a job here</Link>, or send a job with an API key. It appears on this page at once.
      </p>
      <CodeBlock label="curl, with the same sample" text={firstCurl()} />
      <CodeBlock label="Command line, with a local file; the key is in COPRA_API_KEY" text={firstCommand()} />
    </Empty>
  );
}
