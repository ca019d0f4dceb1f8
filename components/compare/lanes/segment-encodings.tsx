import { countText } from '#components/token-view/numbers.ts'
import type { ComparedSides, SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { SegmentEncoding } from '#lib/analysis/compare/shown-side.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Shows for a side that is text which segments have different tokens if a pipeline encodes each segment alone. */
export function SegmentEncodings({ compared }: { readonly compared: ComparedSides }) {
  return (['left', 'right'] as const).map((name) => {
    const { perSegment } = compared[name]
    return perSegment && <Side key={name} name={name} segments={perSegment} />
  })
}

function Side({ name, segments }: { readonly name: SideName; readonly segments: readonly SegmentEncoding[] }) {
  const others = segments.map((segment, index) => ({ ...segment, index })).filter(({ drifted }) => drifted > 0)
  const tokens = others.reduce((sum, { drifted }) => sum + drifted, 0)
  return (
    <details className="border-line border-b bg-panel px-3.5 py-1.5 text-xs">
      <summary className="w-fit cursor-pointer text-dim hover:text-ink">
        {name}, each segment encoded by itself:{' '}
        {tokens === 0
          ? 'no token differs'
          : `${countWithNoun(tokens, 'token differs', 'tokens differ')} in ${countText(others.length)} of ${countText(segments.length)} segments`}
      </summary>
      <ul className="mt-1 grid max-h-40 list-disc gap-0.5 overflow-auto pl-5">
        {others.slice(0, MOST_LISTED).map(({ index, kind, tokens: recorded, alone, drifted }) => (
          <li key={index} className="tabular-nums">
            segment {countText(index + 1)}, {kind}: {countText(drifted)} of its {countText(recorded)} tokens differ; by
            itself it has {countText(alone)}
          </li>
        ))}
        {others.length > MOST_LISTED && <li>and {countText(others.length - MOST_LISTED)} more</li>}
        {others.length === 0 && <li>All {countText(segments.length)} segments have the recorded tokens.</li>}
      </ul>
    </details>
  )
}

const MOST_LISTED = 100
