// What a user of generated TypeScript types does in the first five minutes.
//
//     node sample.js ORIGIN KEY REPORT_ID

import createClient from "openapi-fetch";
import type { components, paths } from "./service.js";

declare const process: { argv: string[] };

type Problem = components["schemas"]["Problem"];

// Without the second argument the types of an answer are a union over all its media types.
type Media = "application/json" | "application/problem+json";

const [origin = "", key = "", reportId = ""] = process.argv.slice(2);
const client = createClient<paths, Media>({
  baseUrl: origin,
  headers: { authorization: `Bearer ${key}` },
  querySerializer: { array: { style: "form", explode: false } }, // comma lists
});

function hold(truth: boolean, promise: string): asserts truth {
  if (!truth) throw new Error(promise);
}

const nobody = await createClient<paths, Media>({ baseUrl: origin }).GET("/api/v1/profiles");
const problem: Problem | undefined = nobody.error;
hold(problem?.code === "MISSING_API_KEY", "a call without a key is refused by its code");

const create = () =>
  client.POST("/api/v1/profiles", {
    params: { header: { "Idempotency-Key": "typed-profile" } },
    body: {
      name: "Grain prices",
      topic: "Prices of wheat and maize",
      frequency: "daily",
      scheduleTimeOfDay: "07:30",
    },
  });
const first = await create();
const again = await create();
hold(first.data !== undefined, "a profile is created");
hold(first.data.data.id === again.data?.data.id, "a repeated key creates nothing");
hold(again.response.headers.get("idempotency-replayed") === "true", "a replay says so");

const profileId: string = first.data.data.id;
const changed = await client.PATCH("/api/v1/profiles/{profileId}", {
  params: {
    path: { profileId },
    header: { "If-Match": first.response.headers.get("etag") ?? "" },
  },
  body: { frequency: "weekly", scheduleDay: null },
});
hold(changed.data?.data.frequency === "weekly", "a patch changes what it names");

const listed = await client.GET("/api/v1/profiles", { params: { query: { limit: 1 } } });
const row = listed.data?.data[0];
hold(row !== undefined && "subscription" in row, "a profile is listed with its subscription");
hold(row.subscription.status === "active", "the subscription of a new profile is active");
hold(listed.data?.meta.pageCount === 1, "a page counts its rows");

const detail = await client.GET("/api/v1/reports/{reportId}", {
  params: { path: { reportId }, query: { include: ["signals", "graph"] } },
});
hold(detail.data !== undefined && "profileId" in detail.data.data, "a report is read");
hold(detail.data.data.graph?.nodes.length === 3, "an expansion that was asked for is there");

const reports = await client.GET("/api/v1/reports");
hold(reports.data?.data[0]?.title !== undefined, "reports are listed");

const changes = await client.GET("/api/v2/changes");
const watermark: string | undefined = changes.data?.meta.watermark;
hold(watermark !== undefined, "the feed gives a watermark");
const rest = await client.GET("/api/v2/changes", { params: { query: { after: watermark } } });
hold(rest.data?.data.length === 0, "after the last watermark there is nothing");
