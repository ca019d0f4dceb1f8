import { FormulaField } from '#components/export/formula-field.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { GroupForest } from '#lib/api/forest/group-forest.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { GroupPageView } from '../address.ts'
import type { BrushQuantity } from './brush.ts'
import { GroupNumbers } from './group-numbers.tsx'
import { RewardHistogram } from './reward-histogram.tsx'
import { SampleList, type SampleListItem } from './sample-list.tsx'

interface SamplesPaneProps {
  /** Name of the samples: their question, or the id of the group. */
  readonly title: string
  /** Undefined for selected trajectories. */
  readonly groupId: string | undefined
  /** Undefined until the tree is known: then only the samples are shown. */
  readonly forest: GroupForest | undefined
  readonly samples: readonly SampleListItem[]
  readonly view: GroupPageView
  readonly onView: (change: Partial<GroupPageView>) => void
  readonly by: BrushQuantity
  readonly onBy: (by: BrushQuantity) => void
  readonly farthest: number
  readonly chosen: ReadonlySet<number> | undefined
  readonly onSample: (sample: number) => void
}

/** Shows the facts of a group, the histogram, the samples and the formula of their advantages. */
export function SamplesPane(props: SamplesPaneProps) {
  const { title, groupId, forest, samples, view, onView, by, onBy, farthest, chosen, onSample } = props
  return (
    <>
      <div className="mb-2 flex items-baseline justify-between gap-3">
        <h2 className="min-w-0 font-semibold [overflow-wrap:anywhere]">{visibleText(title)}</h2>
        <span className="shrink-0 text-faint text-xs">{countWithNoun(samples.length, 'sample')}</span>
      </div>
      {groupId !== undefined && (
        <p className="mb-2 text-dim text-xs">
          group{' '}
          <code className="select-all break-all font-mono" title="Id of the group. A click selects it.">
            {visibleText(groupId)}
          </code>
        </p>
      )}
      {forest && (
        <>
          <div className="mb-4">
            <GroupNumbers forest={forest} />
          </div>
          <RewardHistogram
            forest={forest}
            by={by}
            onBy={onBy}
            brush={view.brush}
            onBrush={(brush) => onView({ brush })}
          />
        </>
      )}
      <SampleList
        samples={samples}
        range={forest?.rewards?.range}
        farthest={farthest}
        chosen={chosen}
        current={view.pinned?.sample}
        onSample={onSample}
      />
      <div className="mt-4">
        <FormulaField formula={view.formula} onFormula={(formula) => formula && onView({ formula })} />
      </div>
    </>
  )
}
