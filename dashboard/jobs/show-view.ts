// Shows other jobs, or the same jobs in another way.

import { TAG_PREFIX } from "../../shared/job/tag-query.ts";
import { setQuery } from "../core/location.ts";
import { paramsOf, type View } from "./filter.ts";

/** Changes the view in the URL. The list starts at its first job. */
export const showView = (view: View, changes: Partial<View>): void =>
  setQuery({
    // Removed tags.
    ...Object.fromEntries(Object.keys(view.tags).map((name) => [TAG_PREFIX + name, ""])),
    ...paramsOf({ ...view, cursor: "", ...changes }),
  });
