// Shows the request of a job, to read, copy, edit or send it again.
import type { RequestView } from "../../../client/index.ts";
import { hashOfRequest } from "../../new-job/state.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Link } from "../../parts/controls/link.tsx";
import { Loaded } from "../../parts/loaded.tsx";
import type { Resource } from "../../parts/use-resource.ts";

export const Request = ({ view }: { readonly view: Resource<RequestView> }) => (
  <Loaded of={view} what="the request">
    {({ request, left_out }) => (
      <div class="stack">
        <div class="row">
          <Link class="button" to={`/new${hashOfRequest(request)}`}>
            Edit and send again
          </Link>
          {left_out.length > 0 && (
            <p class="muted">
              Secrets are not shown. Add them before you send it again: <code>{left_out.join(", ")}</code>
            </p>
          )}
        </div>
        <CodeBlock label="Body of POST /v2/jobs" text={JSON.stringify(request, null, 2)} wrap />
      </div>
    )}
  </Loaded>
);
