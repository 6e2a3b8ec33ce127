import { type Html, html, section } from "../markup.ts";

export const authentication = (): Html =>
  section(
    2,
    "authentication",
    "Authentication",
    html`<p>Requests of clients carry the API key as the user name of HTTP Basic authentication, with an empty password:
<code>Authorization: Basic base64("&lt;key&gt;:")</code>, which is what <code>curl -u "$API_KEY:"</code> sends. A key sees
only the jobs of its own account; all others are answered with 404, as jobs that never were.</p>
<p>Operations under <code>/v2/admin</code> carry the operator's token: <code>Authorization: Bearer &lt;token&gt;</code>. A
missing or wrong credential is answered with 401.</p>
<p>The rate of a key's requests is limited. Beyond it they are answered with 429, and <code>Retry-After</code> says how
many seconds to wait.</p>`,
  );
