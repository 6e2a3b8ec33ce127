// Shows the request of a job, to read, copy, edit or send it again.
import type { RequestView } from "../../../client/index.ts";
import { hashOfRequest } from "../../new-job/state.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Link } from "../../parts/link.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { Resource } from "../../parts/use-resource.ts";

export function Request({ view }: { readonly view: Resource<RequestView> }) {
  const { value, error, reload } = view;
  if (value === undefined && error !== undefined) return <Problem error={error} retry={reload} />;
  if (value === undefined) return <Loading what="the request" />;
  return (
    <div class="stack">
      <div class="row">
        <Link class="button primary" to={`/new${hashOfRequest(value.request)}`}>
          Edit and send again
        </Link>
        {value.left_out.length > 0 && (
          <p class="muted">
            Secrets are not shown. Add them before you send it again: <code>{value.left_out.join(", ")}</code>
          </p>
        )}
      </div>
      <CodeBlock label="Body of POST /v2/jobs" text={JSON.stringify(value.request, null, 2)} wrap />
    </div>
  );
}
