import { expect, it } from "vitest";
import { hubNames, hubsFor } from "../../rpc/hub.ts";
import { countsAt } from "./operator.ts";

it.each(["", "default*3", "default@weur*2,default@enam,gpu"])(
  "has one hub count the tickets of a job, which advertises to that hub: HUBS %j",
  (HUBS) => {
    const jobs = Array.from({ length: 200 }, (_, at) => `job-${at}`);
    for (const pool of ["default", "gpu", "spare"]) {
      const hubs = hubNames({ HUBS }, pool);
      for (const job of jobs) {
        const counting = hubs.filter((hub) => countsAt(hub, HUBS)(pool, job));
        expect(counting).toEqual([hubsFor({ HUBS }, pool, job)[0]]);
      }
    }
  },
);
