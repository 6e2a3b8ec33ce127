// Events, their delivery, and how a receiver knows that they are real.
import { ALWAYS_SENT, NOTIFICATION_EVENTS, retryDelays } from "#shared/job/notification.ts";
import type { OpenApiDocument } from "../../openapi/document-shape.ts";
import { PAYLOAD_EXAMPLES } from "../../openapi/examples/payloads.ts";
import { EVENT_MEANINGS, SIGNATURE_HEADERS } from "../../openapi/webhooks.ts";
import { block, code, type Html, html, json, prose, section, table } from "../markup.ts";
import { foldedMembers, schemaLink } from "../schema-view.ts";
import { VERIFY_IN_NODE, VERIFY_IN_PYTHON } from "../verify-samples.ts";

export const notifications = ({ components: { schemas } }: OpenApiDocument): Html =>
  section(
    2,
    "notifications",
    "Notifications",
    html`<p>Every event exists once, is delivered at least once, and the events of a job go out in their order. The body is
JSON. With <code>metadata: true</code> it carries the metadata of what it speaks of. A body that is too large for its way
goes without metadata and, if that is not enough, without lists of <code>urls</code>; reading the job gives them all.</p>`,
    foldedMembers(schemas, "Notification"),
    table(
      "Events",
      ["Event", "When", "Sent", "Body"],
      NOTIFICATION_EVENTS.map((event) => [
        code(event),
        EVENT_MEANINGS[event].summary,
        ALWAYS_SENT.has(event) ? "always" : html`with ${code("events: true")}`,
        schemaLink(EVENT_MEANINGS[event].payload),
      ]),
    ),
    json(PAYLOAD_EXAMPLES["job.completed"], "A notification"),
    section(3, "delivery", "Delivery", delivery()),
    section(3, "signatures", "Signatures", signatures()),
  );

const delivery =
  (): Html => html`<p>Any 2xx within 15 seconds means delivered. Redirects are not followed, and 410 means never
again. Otherwise the same bytes are sent again after ${retryDelays("job.completed").map(span).join(", ")}; events before the
end are given up after ${retryDelays("output.completed").length} retries, so that they do not hold up the one that counts.
<a href="#listNotifications">The log</a> says what became of each, and <a href="#replayNotification">replay</a> sends one
again while the job is kept, for seven days after its end.</p>`;

/** A time in its largest whole unit. */
function span(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / 60} min` : `${seconds / 3600} h`;
}

const signatures = (): Html => html`<p>Notifications by HTTP are signed as
<a href="https://www.standardwebhooks.com">Standard Webhooks</a> says, with the <code>whsec_…</code> secret that came with the
account; any of its libraries verifies them. By hand, over the bytes of the body as they came:</p>
${table(
  "Headers of a notification",
  ["Header", "Meaning"],
  Object.entries(SIGNATURE_HEADERS).map(([name, meaning]) => [code(name), prose(meaning)]),
)}
${block(VERIFY_IN_NODE, "Verify a signature in JavaScript")}${block(VERIFY_IN_PYTHON, "Verify a signature in Python")}`;
