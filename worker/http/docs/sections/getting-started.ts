// A first job, with commands that work against the server that the page comes from.
import { JOB_REQUESTS } from "../../openapi/examples/job-requests.ts";
import { block, code, type Html, html, section } from "../markup.ts";
import { printJson } from "../print-json.ts";

export function gettingStarted(origin: string): Html {
  const { input, outputs, notification } = JOB_REQUESTS.videosAndPictures.value;
  const body = printJson({ input, storage: { service: "coconut" }, outputs, notification });
  return section(
    2,
    "getting-started",
    "Getting started",
    html`<p>A <em>job</em> names an input, the outputs to make of it, a storage for them, and whom to tell. Create one
with a <code>POST</code>. The key is what the operator of this service gave you; put your own addresses in place of
those at example.com.</p>`,
    block(`export API_KEY=k-…\ncurl -u "$API_KEY:" ${origin}/v2/jobs -d '${body}'`, "Create a job"),
    html`<p>The answer, with status 201, has the job's <code>id</code>. Read the job by it until
<code>completed_at</code> is set, or follow it as it goes; a notification comes at the end anyway.</p>`,
    block(
      `curl -u "$API_KEY:" ${origin}/v2/jobs/<id>\ncurl -u "$API_KEY:" -N ${origin}/v2/jobs/<id>/events`,
      "Read and follow a job",
    ),
    html`<p>The storage ${code("coconut")} is the service's own, for a first try: what lies there can be read by anyone who
knows the address, and is gone after a day. It needs a bucket that the operator has set up. For real work
<a href="#storages">name your own storage</a>. To see what would be made of a request, with nothing begun, add
<code>?dry_run=true</code> to the address.</p>`,
    html`<p>Programs find this interface in <a href="/v2/openapi.json">/v2/openapi.json</a> (OpenAPI 3.1).</p>`,
  );
}
