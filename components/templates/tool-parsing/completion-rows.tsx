import { useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { parserNames } from '#lib/parsers/registry.ts'
import type { CompletionCounts } from '#lib/templates/tool-parsing/completion-fit.ts'
import type { NamedCompletion } from '#lib/templates/tool-parsing/completions-file.ts'
import { elementAt } from '#lib/util/element-at.ts'

interface CompletionRowsProps {
  readonly completions: readonly NamedCompletion[]
  /** Results of each completion, one per parser. */
  readonly rows: readonly (readonly CompletionCounts[])[]
  /** Name of the parser that ranks first. */
  readonly best: string
  readonly onPick: (completion: NamedCompletion) => void
}

const PAGE = 50

/** Completions that the best parser does not read completely: malformed, dropped or drafted calls, or more calls by another. */
export function CompletionRows({ completions, rows, best, onPick }: CompletionRowsProps) {
  const [count, setCount] = useState(PAGE)
  const at = parserNames.indexOf(best)
  const odd = rows.flatMap((row, index) => (isOdd(row, at) ? [index] : []))
  if (odd.length === 0)
    return <p className="mt-3 text-dim text-xs">{best} reads all of them completely, and no other parser reads more.</p>
  return (
    <div className="mt-3 text-xs">
      <table className="w-full border-collapse text-left">
        <caption className="pb-1 text-left text-dim">
          {countText(odd.length)} of {countText(rows.length)} completions that {best} does not read completely, or of
          which another parser reads more
        </caption>
        <thead className="text-faint">
          <tr>
            <th scope="col" className="py-0.5 pr-3 font-normal">
              completion
            </th>
            {parserNames.map((name) => (
              <th key={name} scope="col" className="py-0.5 pr-3 font-mono font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {odd.slice(0, count).map((index) => (
            <tr key={index} className="border-line border-t" data-completion={index}>
              <th scope="row" className="py-0.5 pr-3 font-normal">
                <button
                  type="button"
                  className="text-accent hover:underline"
                  onClick={() => onPick(elementAt(completions, index))}
                >
                  {completions[index]?.from || 'typed text'}
                </button>
              </th>
              {elementAt(rows, index).map((tally, parser) => (
                <td key={parserNames[parser]} className="py-0.5 pr-3 text-dim tabular-nums">
                  {tallyText(tally)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {odd.length > count && (
        <Button className="mt-2" onClick={() => setCount(count + PAGE)}>
          Show {countText(Math.min(PAGE, odd.length - count))} more
        </Button>
      )}
    </div>
  )
}

function isOdd(row: readonly CompletionCounts[], at: number): boolean {
  const own = elementAt(row, at)
  const isWhole = own.good === own.calls && own.dropped === 0 && own.drafted === 0
  return !isWhole || row.some(({ read }) => read > own.read)
}

function tallyText({ calls, read, good, malformed, dropped, drafted }: CompletionCounts): string {
  if (calls === 0 && drafted === 0 && dropped === 0) return '–'
  return [
    good > 0 && `${good} ✓`,
    read > good && `${read - good} unfit`,
    malformed > 0 && `${malformed} malformed`,
    dropped > 0 && `${dropped} dropped`,
    drafted > 0 && `${drafted} drafted`,
    calls - read - malformed > 0 && `${calls - read - malformed} no name`,
  ]
    .filter(Boolean)
    .join(', ')
}
