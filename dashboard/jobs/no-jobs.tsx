// What the page shows instead of jobs.
import { url } from "../core/service.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Empty } from "../parts/empty.tsx";
import { Link } from "../parts/link.tsx";
import { isFiltered, type View } from "./filter.ts";
import { showView } from "./filter-bar.tsx";

export function NoJobs({ view, next }: { readonly view: View; readonly next: string | null }) {
  if (next !== null)
    return (
      <Empty title="Nothing found so far">
        <p>A search reads 2,000 jobs at a time. There are older ones.</p>
        <button type="button" onClick={() => showView(view, { cursor: next })}>
          Search on
        </button>
      </Empty>
    );
  if (isFiltered(view) || view.cursor !== "")
    return (
      <Empty title="No job matches">
        <button type="button" onClick={() => showView(view, { q: "", statuses: [], from: "", to: "" })}>
          Show all jobs
        </button>
      </Empty>
    );
  return <FirstJob />;
}

/** A job that needs nothing but a key: the results are in the service's own storage for a day. */
const firstCurl = (): string => `curl -u $API_KEY: ${url}/v2/jobs -d '{
  "input": { "url": "https://example.com/video.mp4" },
  "storage": { "service": "coconut" },
  "notification": { "type": "none" },
  "outputs": {
    "mp4:720p": { "path": "720p.mp4" },
    "jpg:320x": { "path": "image-%02d.jpg", "number": 3 }
  }
}'`;

const firstCommand = (): string => `npm run copra -- encode video.mov --to mp4:720p --to jpg:320x -o out --url ${url}`;

function FirstJob() {
  return (
    <Empty title="No jobs yet">
      <p>
        <Link to="/new">Make one here</Link>, or send the first one with an API key. It appears on this page at once.
      </p>
      <CodeBlock label="curl" text={firstCurl()} />
      <CodeBlock label="Command line, with a local file; the key is in COPRA_API_KEY" text={firstCommand()} />
    </Empty>
  );
}
