import { ANSWER_EXAMPLES } from "../../openapi/examples/answers.ts";
import { type Html, html, json, section } from "../markup.ts";

export const metadata = (): Html =>
  section(
    2,
    "metadata",
    "Metadata",
    html`<p>What ffprobe says of the input and of every finished output, complete: <code>format</code> is the file,
<code>streams</code> its tracks. <a href="#getJobMetadata">All of a job</a> can be read at once, or
<a href="#getKeyMetadata">that of one key</a>: <code>input</code> and <code>source</code> both name the input. An HTTP stream has
that of all its tracks under <code>hls</code> and <code>dash</code>, with the address of the playlist or manifest as file name, and
with the key of encrypted segments if the service made it. Images have none, nor have outputs that failed or were skipped.</p>`,
    json(ANSWER_EXAMPLES.KeyMetadata, "Metadata of one output"),
  );
