import { countText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import { visibleText } from '#components/ui/visible-text.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Inspection } from '../inspection.ts'

interface TokenListProps {
  readonly title: string
  readonly trajectory: TrajectoryView
  readonly tokens: readonly { readonly token: number; readonly numbers: readonly string[] }[]
  /** Headings of the numbers. */
  readonly columns: readonly string[]
  readonly onSelect: Inspection['onSelect']
}

/** Lists some tokens of a chart as a table, which the keyboard can reach; a click shows the token. */
export function TokenList({ title, trajectory, tokens, columns, onSelect }: TokenListProps) {
  return (
    <details className="mt-1 text-xs">
      <summary className="w-fit py-1 text-dim hover:text-ink">{title}</summary>
      <table className="tabular-nums">
        <thead>
          <tr className="text-left text-dim">
            {['token', 'text', ...columns].map((column) => (
              <th key={column} scope="col" className="py-0.5 pr-4 font-medium">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tokens.map(({ token, numbers }) => (
            <tr key={token}>
              <td className="pr-4">
                <button
                  type="button"
                  className="py-0.5 text-accent underline"
                  onClick={() => onSelect(single(token), 'tokens')}
                >
                  {countText(token)}
                </button>
              </td>
              <td className="max-w-60 truncate pr-4 font-mono">{textOf(trajectory, token)}</td>
              {numbers.map((number, index) => (
                <td key={columns[index]} className="pr-4">
                  {number}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

function textOf(trajectory: TrajectoryView, token: number): string {
  const entry = trajectory.vocab[tokenAt(trajectory, token)?.id ?? -1]
  return typeof entry === 'string' ? visibleText(JSON.stringify(entry)) : entry ? entry.hex : '—'
}
