// The API reference: text, and tables from the OpenAPI document and the code.
import type { OpenApiDocument } from "../openapi/document-shape.ts";
import { type GuideIndex, guideLinks } from "./guide-page.ts";
import { type Html, html } from "./markup.ts";
import { page } from "./page-frame.ts";
import { memberNames } from "./schema-view.ts";
import { authentication } from "./sections/authentication.ts";
import { endpoints, schemas } from "./sections/endpoints.ts";
import { errors } from "./sections/errors.ts";
import { formats } from "./sections/formats.ts";
import { gettingStarted } from "./sections/getting-started.ts";
import { inputs, storages } from "./sections/inputs-and-storages.ts";
import { jobLife } from "./sections/job-life.ts";
import { metadata } from "./sections/metadata.ts";
import { notifications } from "./sections/notifications.ts";
import { OUTPUT_SCHEMAS, outputs } from "./sections/outputs.ts";

/** The table of contents, by the ids of the sections. */
const CONTENTS: Readonly<Record<string, string>> = {
  "getting-started": "Getting started",
  authentication: "Authentication",
  "job-life": "Job statuses",
  inputs: "Input",
  storages: "Storage",
  formats: "Formats",
  outputs: "Outputs",
  conditions: "Conditions",
  notifications: "Notifications",
  metadata: "Metadata",
  errors: "Errors",
  endpoints: "Endpoints",
  schemas: "Schemas",
};

/** The whole page in HTML. URLs in its commands start with `origin`. */
export const referencePage = (document: OpenApiDocument, origin: string, guides: GuideIndex): Promise<string> =>
  page({
    title: `${document.info.title} API`,
    description: document.info.description,
    menu: "Contents",
    header: html`<h1>${document.info.title} <small>API version ${document.info.version}</small></h1>
<p>${document.info.description}</p>`,
    navigation: html`<nav id="pages" aria-label="Contents"><ul>${Object.entries(CONTENTS).map(
      ([id, title]) => html`<li><a href="#${id}">${title}</a></li>`,
    )}${guideLinks(guides, null)}</ul></nav>`,
    main: sections(document, origin),
  });

const sections = (document: OpenApiDocument, origin: string): Html[] => [
  gettingStarted(origin),
  authentication(),
  jobLife(),
  inputs(document.components.schemas),
  storages(document.components.schemas),
  formats(),
  outputs(document),
  notifications(document),
  metadata(),
  errors(),
  endpoints(document),
  schemas(document, shownElsewhere(document)),
];

function shownElsewhere({ components }: OpenApiDocument): ReadonlySet<string> {
  const unions = ["InputRequest", "Storage", "Notification"];
  return new Set([...Object.keys(OUTPUT_SCHEMAS), ...unions.flatMap((name) => memberNames(components.schemas[name]))]);
}
