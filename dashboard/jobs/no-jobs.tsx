// The content of the page when the list is empty.
import type { JobRequest } from "../../client/index.ts";
import { COMMAND } from "../core/command.ts";
import { navigate } from "../core/location.ts";
import { copra, url } from "../core/service.ts";
import { CodeBlock } from "../parts/code-block.tsx";
import { Button } from "../parts/controls/button.tsx";
import { useForm } from "../parts/controls/form.tsx";
import { Link } from "../parts/controls/link.tsx";
import { Empty } from "../parts/empty.tsx";
import { Problem } from "../parts/problem.tsx";
import { isFiltered, NO_FILTER, type View } from "./filter.ts";
import { showView } from "./show-view.ts";

export function NoJobs({ view, next }: { readonly view: View; readonly next: string | null }) {
  if (next !== null)
    return (
      <Empty title="Nothing found so far">
        <p>A search reads 2,000 jobs at a time. There are older jobs.</p>
        <Button text="Search on" onClick={() => showView(view, { cursor: next })} />
      </Empty>
    );
  if (isFiltered(view) || view.sort !== "" || view.cursor !== "")
    return (
      <Empty title="No job matches">
        <Button text="Show all jobs" onClick={() => showView(view, { ...NO_FILTER, sort: "" })} />
      </Empty>
    );
  return <FirstJob />;
}

/** A job with the sample clip. It needs only a key: the service's own storage keeps the results for a day. */
const FIRST = {
  input: { url: `${url}/assets/sample.mp4` },
  storage: { service: "coconut" },
  notification: { type: "none" },
  outputs: { "mp4:240p": { path: "240p.mp4" }, "jpg:320x": { path: "image-%02d.jpg", number: 3 } },
} satisfies JobRequest;

const firstCurl = (): string => `curl -u $API_KEY: ${url}/v2/jobs -d '${JSON.stringify(FIRST, null, 2)}'`;

const firstCommand = (): string => `${COMMAND} encode video.mov --to mp4:720p --to jpg:320x -o out --url ${url}`;

function FirstJob() {
  const { onSubmit, isBusy, error } = useForm(async () => {
    const { id } = await copra.jobs.create(FIRST);
    navigate(`/jobs/${id}`);
  });
  return (
    <Empty title="No jobs yet">
      <form onSubmit={onSubmit}>
        <Button type="submit" text="Try it with a sample" class="primary" disabled={isBusy} />
      </form>
      <Problem error={error} />
      <p>
        Or <Link to="/new">make a job here</Link>, or send a job with an API key. It appears on this page at once.
      </p>
      <CodeBlock label="curl, with the same sample" text={firstCurl()} />
      <CodeBlock label="Command line, with a local file; the key is in COPRA_API_KEY" text={firstCommand()} />
    </Empty>
  );
}
