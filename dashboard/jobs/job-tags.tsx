// The tags of a job. Each is a link to the jobs with this tag.
import type { Job } from "../../client/index.ts";
import { TAG_PREFIX } from "../../shared/job/tag-query.ts";
import { Link } from "../parts/controls/link.tsx";

export function JobTags({ tags = {} }: { readonly tags: Job["tags"] }) {
  return (
    <span class="job-tags">
      {Object.entries(tags).map(([name, value]) =>
        value === "" ? (
          <span key={name}>{name}</span>
        ) : (
          <Link key={name} class="ellipsis" to={`/?${new URLSearchParams({ [TAG_PREFIX + name]: value })}`}>
            {`${name}=${value}`}
          </Link>
        ),
      )}
    </span>
  );
}
