import { countText } from '#components/token-view/numbers.ts'
import { single } from '#components/token-view/selection.ts'
import type { SheetRow, TrainerSheet } from '#lib/analysis/trainer/sheet.ts'
import { int32At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { Inspection } from '../inspection.ts'
import { sheetCutText, shortName } from './array-notes.ts'
import { CopyArray } from './copy-array.tsx'
import { Lengths } from './lengths.tsx'

interface SampleSummaryProps {
  readonly inspection: Inspection
  readonly sheet: TrainerSheet
  readonly row: SheetRow
  readonly rowIndex: number
}

/** Shows whether the arrays agree, where they begin and end, and what the file does not contain. */
export function SampleSummary({ inspection, sheet, row, rowIndex }: SampleSummaryProps) {
  const show = (token: number) => inspection.onSelect(single(token))
  return (
    <div className="grid max-h-[42vh] max-lg:max-h-[26vh] auto-rows-max gap-x-8 gap-y-3 overflow-y-auto border-line border-b px-3.5 py-2.5 text-xs xl:grid-cols-[auto_minmax(240px,1fr)]">
      <div className="min-w-0 overflow-x-auto">
        <Lengths row={row}>
          {(column) => <CopyArray inspection={inspection} format={sheet.format} row={rowIndex} field={column.name} />}
        </Lengths>
      </div>
      <div className="grid min-w-0 content-start gap-2">
        <Mask row={row} onShow={show} />
        <Cuts row={row} onShow={show} />
        <Turns turns={row.turns} onShow={show} />
        <Others sheet={sheet} />
      </div>
    </div>
  )
}

interface PartProps {
  readonly row: SheetRow
  readonly onShow: (token: number) => void
}

function Mask({ row: { mask, columns }, onShow }: PartProps) {
  if (!mask) return null
  const name = columns.find(({ meaning }) => meaning === 'mask')?.name ?? ''
  return (
    <p className="tabular-nums" data-trained={mask.trained}>
      Σ {shortName(name)} = <strong className="font-semibold">{countText(mask.trained)}</strong> trained,{' '}
      {countText(mask.context)} context
      {mask.first !== undefined && mask.last !== undefined && (
        <>
          ; first trained <TokenLink token={mask.first} onShow={onShow} />, last{' '}
          <TokenLink token={mask.last} onShow={onShow} />
        </>
      )}
      {mask.differing > 0 && (
        <span className="block text-warn">
          {countWithNoun(mask.differing, 'token is', 'tokens are')} trained here, and not by this file.
        </span>
      )}
    </p>
  )
}

/** Number of cuts that are listed. */
const SHOWN = 4

function Cuts({ row: { cuts, columns }, onShow }: PartProps) {
  if (cuts.length === 0) return <p className="text-dim">No cut: every array covers all tokens.</p>
  return (
    <ul className="grid gap-0.5" aria-label="Cuts">
      {cuts.slice(0, SHOWN).map((cut) => (
        <li key={cut.token}>
          <span className="text-accent">Cut</span> before <TokenLink token={cut.token} onShow={onShow} />:{' '}
          {sheetCutText(cut, columns)}
        </li>
      ))}
      {cuts.length > SHOWN && <li className="text-faint">and {countText(cuts.length - SHOWN)} more, in the table</li>}
    </ul>
  )
}

/** Lists the turns with trained tokens; `turns` is flat: [segment, first, last, trained]. */
function Turns({ turns, onShow }: { readonly turns: Int32Array; readonly onShow: (token: number) => void }) {
  const count = turns.length / 4
  if (count === 0) return <p className="text-warn">Nothing is trained.</p>
  return (
    <details>
      <summary className="hover:text-ink">{countWithNoun(count, 'turn has', 'turns have')} trained tokens</summary>
      <table className="mt-1 tabular-nums">
        <thead>
          <tr className="text-left text-dim">
            <th className="pr-4 font-medium">segment</th>
            <th className="pr-4 font-medium">first</th>
            <th className="pr-4 font-medium">last</th>
            <th className="font-medium">trained</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.min(count, MOST_TURNS) }, (_, index) => 4 * index).map((at) => (
            <tr key={at}>
              <td className="pr-4">{turns[at]}</td>
              <td className="pr-4">
                <TokenLink token={int32At(turns, at + 1)} onShow={onShow} />
              </td>
              <td className="pr-4">
                <TokenLink token={int32At(turns, at + 2)} onShow={onShow} />
              </td>
              <td>{countText(int32At(turns, at + 3))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {count > MOST_TURNS && <p className="text-faint">and {countText(count - MOST_TURNS)} more, in the table</p>}
    </details>
  )
}

const MOST_TURNS = 200

function Others({ sheet: { others, lost } }: { readonly sheet: TrainerSheet }) {
  return (
    <>
      <details>
        <summary className="hover:text-ink">{countText(others.length)} other fields</summary>
        <dl className="mt-1 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-0.5 font-mono">
          {others.map(({ name, text }) => (
            <div key={name} className="contents">
              <dt className="text-dim">{name}</dt>
              <dd className="[overflow-wrap:anywhere]">{text}</dd>
            </div>
          ))}
        </dl>
      </details>
      {lost.length === 0 ? (
        <p className="text-good">The whole trajectory is in the file.</p>
      ) : (
        <details>
          <summary className="text-warn hover:text-ink">
            {lost.length === 1 ? 'One thing is' : `${lost.length} things are`} not in this file
          </summary>
          <ul className="mt-1 grid list-disc gap-0.5 pl-4 text-dim">
            {lost.map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

const TokenLink = ({ token, onShow }: { readonly token: number; readonly onShow: (token: number) => void }) => (
  <button type="button" className="font-medium text-accent hover:underline" onClick={() => onShow(token)}>
    {countText(token)}
  </button>
)
