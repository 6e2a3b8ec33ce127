import { type Html, html, section } from "../markup.ts";

export const authentication = (): Html =>
  section(
    2,
    "authentication",
    "Authentication",
    html`<p>Clients send the API key as the user name of HTTP Basic authentication, with an empty password:
<code>Authorization: Basic base64("&lt;key&gt;:")</code>, as <code>curl -u "$API_KEY:"</code> sends it. A key
gives access only to the jobs of its account. For jobs of other accounts, the response is 404.</p>
<p>Operations under <code>/v2/admin</code> require the token of the operator: <code>Authorization: Bearer &lt;token&gt;</code>.
<code>/v2/autoscale</code> and <code>/metrics</code> also accept the token of the operator's monitoring.
Without valid credentials, the response is 401.</p>
<p>Each key has a rate limit. Beyond it, the response is 429, and <code>Retry-After</code> is the number of seconds to
wait.</p>`,
  );
