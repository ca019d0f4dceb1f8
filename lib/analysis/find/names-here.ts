/** Lists the names that occur in a trajectory: columns, tools, calls, arguments, versions and problems. */

import { columnNames } from '#lib/trajectory/tokens/column-roles.ts'
import { segmentsOf, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import type { NamedFact } from './query.ts'

/** Returns the names of the columns that any segment has. */
export const trajectoryColumns = memoizeByIdentity((trajectory: TrajectoryView): readonly string[] =>
  columnNames(trajectory),
)

/** Returns the values of a named fact that occur in a trajectory; undefined if the language allows only a fixed list of values. */
export function namesHere(trajectory: TrajectoryView, name: NamedFact): readonly string[] | undefined {
  const segments = segmentsOf(trajectory)
  const calls = toolCallsOf(trajectory)
  switch (name) {
    case 'tool':
      return distinct(calls.flatMap((call) => call.name ?? []))
    case 'call':
      return calls.map(({ id }) => id)
    case 'arg':
      return distinct(
        calls.flatMap((call) => (call.kind === 'parsed' ? call.arguments.map((value) => value.name) : [])),
      )
    case 'version':
      return distinct(segments.flatMap((segment) => versionSpans(segment, trajectory).map(({ version }) => version)))
    case 'problem':
      return distinct(segments.flatMap(({ problems = [] }) => problems.map(({ kind }) => kind)))
    case 'kind':
    case 'span':
    case 'finish':
    case 'unknown':
      return undefined
    default:
      return unreachable(name)
  }
}

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)]
