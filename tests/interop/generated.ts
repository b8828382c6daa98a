// What a user of openapi-generator's client for fetch does first: read, create, append.
//
//     node generated.js ORIGIN KEY REPORT_ID

import { Configuration, LedgerApi, ProfilesApi, ReportsApi } from "./index";

declare const process: { argv: string[]; exitCode: number };

const [origin = "", key = "", reportId = ""] = process.argv.slice(2);

function hold(truth: boolean, promise: string): void {
  if (!truth) throw new Error(promise);
}

async function main(): Promise<void> {
  const made = new Configuration({ basePath: origin, accessToken: key });
  const reports = await new ReportsApi(made).listReports();
  hold(reports.data.some((report) => report.id === reportId), "reports are listed");
  const graph = await new ReportsApi(made).getReportGraph({ reportId });
  hold(graph.counts.nodes === 3, "a graph is read");

  const profile = await new ProfilesApi(made).createProfile({
    idempotencyKey: "generated-fetch",
    profileInput: { name: "Generated", topic: "Clients", frequency: "manual" },
  });
  hold(profile.data.name === "Generated", "a profile is created");

  const [opened] = (
    await new LedgerApi(made).appendRecords({
      entryInput: [{ kind: "subject", type: "organization", label: "Pier 7" }],
    })
  ).data as { subject: string }[];
  hold(opened?.subject.startsWith("sbj_") ?? false, "a record is appended");
}

main().catch((failed) => {
  console.error(failed);
  process.exitCode = 1;
});
