// A first job, with commands for the server of the page.
import { JOB_REQUESTS } from "../../openapi/examples/job-requests.ts";
import { block, code, type Html, html, section } from "../markup.ts";
import { printJson } from "../print-json.ts";

export function gettingStarted(origin: string): Html {
  const { input, outputs, notification } = JOB_REQUESTS.videosAndImages.value;
  const body = printJson({ input, storage: { service: "coconut" }, outputs, notification });
  return section(
    2,
    "getting-started",
    "Getting started",
    html`<p>A <em>job</em> has an input, outputs, a storage for the outputs, and a notification. Create a job with a
<code>POST</code>. Use the API key from the operator of this service, and replace the URLs at example.com by your own.</p>`,
    block(`export API_KEY=k-…\ncurl -u "$API_KEY:" ${origin}/v2/jobs -d '${body}'`, "Create a job"),
    html`<p>The response has the status 201 and contains the <code>id</code> of the job. Read the job until
<code>completed_at</code> is set, or follow it. In any case, you receive a notification at the end.</p>`,
    block(
      `curl -u "$API_KEY:" ${origin}/v2/jobs/<id>\ncurl -u "$API_KEY:" -N ${origin}/v2/jobs/<id>/events`,
      "Read and follow a job",
    ),
    html`<p>The storage ${code("coconut")} is the built-in storage, for tests: anyone who knows the URL can read the objects, which
are deleted after a day. It requires a bucket that the operator has set up. For production,
<a href="#storages">use your own storage</a>. To see the plan of a request without creating a job, add
<code>?dry_run=true</code> to the URL.</p>`,
    html`<p>For programs, the API is described in <a href="/v2/openapi.json">/v2/openapi.json</a> (OpenAPI 3.1).</p>`,
  );
}
