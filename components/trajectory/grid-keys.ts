/** What the keys of the token view do. */
import { type Layout, lineNumbered, lineOfToken, tokenAtColumn } from './layout.ts'

/** Where a key leads: a token, no token, or nowhere (undefined). */
export function keyTarget(
  key: string,
  selected: number | undefined,
  layout: Layout,
  count: number,
): number | 'none' | undefined {
  if (count === 0) return undefined
  const from = selected ?? -1
  const clamp = (index: number) => Math.min(count - 1, Math.max(0, index))
  switch (key) {
    case 'ArrowRight':
    case 'j':
      return clamp(from + 1)
    case 'ArrowLeft':
    case 'k':
      return clamp(selected === undefined ? 0 : from - 1)
    case 'ArrowDown':
      return verticalTarget(layout, selected, 1)
    case 'ArrowUp':
      return verticalTarget(layout, selected, -1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    case 'J':
      return segmentTarget(layout, clamp(from), 1)
    case 'K':
      return segmentTarget(layout, clamp(from), -1)
    case 'Escape':
      return selected === undefined ? undefined : 'none'
    default:
      return undefined
  }
}

/** The token above or below, at the same column. */
function verticalTarget(layout: Layout, selected: number | undefined, step: 1 | -1): number | undefined {
  if (selected === undefined) return 0
  const line = lineOfToken(layout, selected)
  if (!line) return undefined
  const column = line.layout.columns[selected - line.layout.firstToken] ?? 0
  for (let number = line.number + step; ; number += step) {
    const other = lineNumbered(layout, number)
    if (!other) return selected
    const target = tokenAtColumn(other, column)
    if (target >= 0) return target
  }
}

function segmentTarget(layout: Layout, from: number, step: 1 | -1): number | undefined {
  const current = layout.segments.findIndex(
    ({ firstToken, segment }) => from >= firstToken && from < firstToken + segment.ids.length,
  )
  const others =
    step === 1 ? layout.segments.slice(current + 1) : layout.segments.slice(0, Math.max(0, current)).reverse()
  return others.find(({ segment }) => segment.ids.length > 0)?.firstToken ?? from
}
