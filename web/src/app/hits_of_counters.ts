// What the palette finds in a counter capture: kernels and metrics.
import { exact, percent } from "../base/format";
import type { Meaning } from "../base/query";
import { counterMetrics } from "../model/counters";
import { countersOverview, current } from "../model/document";
import { select } from "../model/selection";
import { frontView } from "../model/view";
import { type Collected, type Fit, loosely } from "./hit_groups";

export async function findInCounters({ scope }: Meaning, fitOfName: Fit, results: Collected): Promise<void> {
  if (scope !== "all") return;
  for (const { kernel, kernel_name, dispatch_count, duration_share } of countersOverview().kernels) {
    const go = () => {
      select({ kernelRank: kernel });
      frontView("counter_kernels");
    };
    const note = `${exact(dispatch_count)} dispatches · ${percent(duration_share)} of the time`;
    results.add("Kernels", fitOfName(kernel_name), () => ({ text: kernel_name, note, go }));
  }
  for (const panel of await counterMetrics(current.value).answer()) {
    for (const metric of panel.tables.flatMap((table) => table.metrics)) {
      const rank = fitOfName(metric.name) ?? fitOfName(metric.id) ?? loosely(fitOfName(metric.formula ?? ""));
      const go = () => {
        select({ metric: metric.id });
        frontView("panels");
      };
      results.add("Metrics", rank, () => ({ text: `${panel.title}: ${metric.name}`, note: metric.id, go }));
    }
  }
}
