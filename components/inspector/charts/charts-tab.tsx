import type { InspectorPartProps } from '../inspection.ts'
import { AlongChart } from './along-chart.tsx'
import { HistogramChart } from './histogram-chart.tsx'
import { MismatchChart } from './mismatch-chart.tsx'
import { SegmentTable } from './segment-table.tsx'

/** Shows the numbers of the tokens as charts: along the trajectory, as a histogram, one against another, and by segment. */
export function ChartsTab({ inspection }: InspectorPartProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-7 p-4">
      <AlongChart inspection={inspection} />
      <HistogramChart inspection={inspection} />
      <MismatchChart inspection={inspection} />
      <SegmentTable inspection={inspection} />
    </div>
  )
}
