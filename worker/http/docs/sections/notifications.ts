// Events, their delivery, and their signatures.
import { ALWAYS_SENT, NOTIFICATION_EVENTS, retryDelays } from "#shared/job/notification.ts";
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { PAYLOAD_EXAMPLES } from "../../openapi/examples/payloads.ts";
import { EVENT_DESCRIPTIONS, SIGNATURE_HEADERS } from "../../openapi/webhooks.ts";
import { block, code, type Html, html, json, prose, section, table } from "../markup.ts";
import { foldedMembers, schemaLink } from "../schema-view.ts";
import { VERIFY_IN_NODE, VERIFY_IN_PYTHON } from "../verify-samples.ts";

export const notifications = ({ components: { schemas } }: OpenApiDocument): Html =>
  section(
    2,
    "notifications",
    "Notifications",
    html`<p>Each event is delivered at least once, and the events of a job are sent in order. The body is JSON. With
<code>metadata: true</code>, it includes the metadata of the input or the outputs. A body that would be too large omits the
metadata and, if necessary, the lists of <code>urls</code>; read the job to get them.</p>`,
    foldedMembers(schemas, "Notification"),
    table(
      "Events",
      ["Event", "Description", "Sent", "Body"],
      NOTIFICATION_EVENTS.map((event) => [
        code(event),
        EVENT_DESCRIPTIONS[event].summary,
        ALWAYS_SENT.has(event) ? "always" : html`with ${code("events: true")}`,
        schemaLink(EVENT_DESCRIPTIONS[event].payload),
      ]),
    ),
    json(PAYLOAD_EXAMPLES["job.completed"], "A notification"),
    section(3, "delivery", "Delivery", delivery()),
    section(3, "signatures", "Signatures", signatures()),
  );

const delivery =
  (): Html => html`<p>A response with any status 2xx within 15 seconds means that the event is delivered. Redirects are
not followed. After a status 410, the event is never sent again. Otherwise the same bytes are sent again after
${retryDelays("job.completed").map(span).join(", ")}; events before the end of the job have only
${retryDelays("output.completed").length} retries, so that they do not delay the final event.
The <a href="#listNotifications">log</a> contains the result of each event. <a href="#replayNotification">Replay</a> sends an
event again while the job is kept, for seven days after its end.</p>`;

/** A duration in its largest whole unit. */
function span(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
}

const signatures = (): Html => html`<p>Notifications by HTTP are signed according to
<a href="https://www.standardwebhooks.com">Standard Webhooks</a>, with the <code>whsec_…</code> secret of the account. Use any of
its libraries to verify them, or the following code, with the unchanged bytes of the body:</p>
${table(
  "Headers of a notification",
  ["Header", "Description"],
  Object.entries(SIGNATURE_HEADERS).map(([name, meaning]) => [code(name), prose(meaning)]),
)}
${block(VERIFY_IN_NODE, "Verify a signature in JavaScript")}${block(VERIFY_IN_PYTHON, "Verify a signature in Python")}`;
