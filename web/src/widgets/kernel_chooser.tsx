// All kernels or one of them, in traces that have several: the choice is the selected kernel, for all views.
import { ofKernel, tracedKernels } from "../model/kernels";
import { select } from "../model/selection";

export function KernelChooser() {
  const kernels = tracedKernels();
  if (kernels.length < 2) return null;
  return (
    <select
      aria-label="Kernel"
      class="kernel-chooser"
      title="Show the waves of one kernel only"
      value={ofKernel().kernel ?? ""}
      onChange={(event) => {
        const { value } = event.currentTarget;
        select({ kernel: value ? Number(value) : undefined });
      }}
    >
      <option value="">all {kernels.length} kernels</option>
      {kernels.map((each) => (
        <option key={each.kernel} value={each.kernel} title={each.name}>
          {each.name}
        </option>
      ))}
    </select>
  );
}
