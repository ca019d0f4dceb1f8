import type { ReactNode } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import type { SheetColumn } from '#lib/analysis/trainer/column.ts'
import type { SheetRow } from '#lib/analysis/trainer/sheet.ts'
import { int32At } from '#lib/util/element-at.ts'
import { shortName } from './array-notes.ts'

/** Lists each array with its length and the expected length, and the lengths that the record states. */
export function Lengths({
  row,
  children,
}: {
  readonly row: SheetRow
  readonly children: (column: SheetColumn) => ReactNode
}) {
  return (
    <table className="w-full tabular-nums">
      <thead>
        <tr className="text-left text-dim">
          <th className="py-0.5 pr-3 font-medium">field</th>
          <th className="py-0.5 pr-3 text-right font-medium">entries</th>
          <th className="py-0.5 pr-3 font-medium max-sm:hidden">of tokens</th>
          <th className="py-0.5 pr-3 font-medium">agrees</th>
          <th className="py-0.5 text-right font-medium">copy</th>
        </tr>
      </thead>
      <tbody>
        {row.columns.map((column) => (
          <tr key={column.name} data-field={column.name} className="border-line border-t">
            <th className="py-0.5 pr-3 text-left whitespace-nowrap font-mono font-normal">{shortName(column.name)}</th>
            <td className="py-0.5 pr-3 text-right">{column.entries === 0 ? '—' : countText(column.entries)}</td>
            <td className="py-0.5 pr-3 whitespace-nowrap text-dim max-sm:hidden">{rangeText(column)}</td>
            <td className="py-0.5 pr-3">
              <Agreement stated={column.entries} expected={column.expected} isThere={column.entries > 0} />
            </td>
            <td className="py-0.5 text-right whitespace-nowrap">{column.entries > 0 && children(column)}</td>
          </tr>
        ))}
        {row.lengths.map(({ name, stated, expected }) => (
          <tr key={name} data-field={name} className="border-line border-t">
            <th className="py-0.5 pr-3 text-left whitespace-nowrap font-mono font-normal">{shortName(name)}</th>
            <td className="py-0.5 pr-3 text-right">{stated === null ? '—' : countText(stated)}</td>
            <td className="whitespace-nowrap py-0.5 pr-3 text-dim max-sm:hidden">says the length</td>
            <td className="py-0.5 pr-3">
              <Agreement stated={stated} expected={expected} isThere />
            </td>
            <td />
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface AgreementProps {
  readonly stated: number | null
  readonly expected: number
  readonly isThere: boolean
}

function Agreement({ stated, expected, isThere }: AgreementProps) {
  if (!isThere) return <span className="whitespace-nowrap text-faint">not written</span>
  if (stated === expected) return <span className="text-good">✓</span>
  return <span className="text-bad">✗ {countText(expected)} expected</span>
}

/** Returns the first and the last token that have an entry. */
function rangeText({ parts, width }: SheetColumn): string {
  const entries = Array.from({ length: parts.length / 3 }, (_, at) => 3 * at).filter((at) => parts[at + 2] === 0)
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return '—'
  const pieces = entries.length > 1 ? `, ${countText(entries.length)} arrays` : ''
  const wide = width > 1 ? `, ${width} each` : ''
  return `${countText(int32At(parts, first))}–${countText(int32At(parts, last + 1) - 1)}${pieces}${wide}`
}
