import { countText } from '../trajectory/numbers.ts'
import { isSingle, rangeOf } from '../trajectory/selection.ts'
import type { Inspection } from './inspection.ts'

interface StatusLineProps {
  readonly inspection: Inspection
  /** What was just done, or why it was not; '' when nothing is to be said. */
  readonly said: string
  readonly count: number
}

/** One line under the tokens: what is chosen of how many, and what was just done. */
export function StatusLine({ inspection, said, count }: StatusLineProps) {
  const { selection } = inspection.view
  return (
    <div
      className={`flex items-center justify-between gap-4 overflow-hidden border-line bg-panel px-3.5 text-[11px] text-dim tabular-nums lg:h-6 lg:border-t ${said === '' ? 'max-lg:h-0' : 'max-lg:h-6 max-lg:border-t'}`}
    >
      <span className="whitespace-nowrap">
        {selection === undefined
          ? `${countText(count)} tokens`
          : isSingle(selection)
            ? `token ${countText(selection.focus)} of ${countText(count)}`
            : `${countText(rangeOf(selection).end - rangeOf(selection).start)} tokens chosen of ${countText(count)}`}
      </span>
      <span role="status" className="min-w-0 truncate text-ink" title={said}>
        {said}
      </span>
    </div>
  )
}
