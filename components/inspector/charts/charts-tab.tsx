import type { InspectorPartProps } from '../inspection.ts'
import { AlongChart } from './along-chart.tsx'
import { HistogramChart } from './histogram-chart.tsx'
import { MismatchChart } from './mismatch-chart.tsx'
import { SegmentTable } from './segment-table.tsx'

/** The numbers of the tokens as charts: along the trajectory, how often, by segment, and one against another. */
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
