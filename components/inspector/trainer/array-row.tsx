/** One token of a sample with its entry in every array. A table would mount every row, so these are elements with roles. */
import type { ReactNode } from 'react'
import { decimalText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { entryAt, type SheetColumn } from '#lib/analysis/trainer/column.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { type ArrayNote, shortName } from './array-notes.ts'

/** Height of a row, in pixels. */
export const ROW_HEIGHT = 22

interface ArrayRowProps {
  readonly id: string
  readonly token: number
  /** `undefined` means that the trajectory has become shorter than the sheet. */
  readonly tokenId: number | undefined
  readonly segmentIndex: number
  readonly vocab: Vocab
  readonly columns: readonly SheetColumn[]
  readonly note: ArrayNote | undefined
  readonly isChosen: boolean
  /** `isExtending` means that the selection is extended to this token. */
  readonly onChoose: (isExtending: boolean) => void
}

/** Shows a token and its entry in each array. */
export function ArrayRow(props: ArrayRowProps) {
  const { id, token, tokenId, segmentIndex, vocab, columns, note, isChosen, onChoose } = props
  return (
    // biome-ignore lint/a11y/useSemanticElements: see above
    // biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the grid around it
    <div
      id={id}
      role="row"
      aria-rowindex={token + 2}
      aria-selected={isChosen}
      data-token={token}
      data-cut={note?.isCut}
      className="grid cursor-default items-center border-transparent border-t hover:bg-panel aria-selected:bg-accent-soft data-cut:border-accent"
      style={{ gridTemplateColumns: templateOf(columns), height: ROW_HEIGHT }}
      onClick={(event) => onChoose(event.shiftKey)}
    >
      <Cell className="text-dim">{token}</Cell>
      <Cell className="text-dim">{segmentIndex}</Cell>
      <Cell isText className="font-mono">
        {tokenId !== undefined && <MarkedPiece id={tokenId} vocab={vocab} />}
      </Cell>
      {columns.map((column) => (
        <EntryCell key={column.name} column={column} token={token} />
      ))}
      <Cell isText className={note?.isCut ? 'text-accent' : 'text-dim'} title={note?.words}>
        {note?.words}
      </Cell>
    </div>
  )
}

interface ArrayHeaderProps {
  readonly columns: readonly SheetColumn[]
  /** Height in pixels. */
  readonly height: number
}

/** Shows the names of the columns. */
export const ArrayHeader = ({ columns, height }: ArrayHeaderProps) => (
  // biome-ignore lint/a11y/useSemanticElements: see above
  // biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus
  <div
    role="row"
    aria-rowindex={1}
    className="sticky top-0 z-1 grid items-center border-line border-b bg-panel text-dim"
    style={{ gridTemplateColumns: templateOf(columns), height }}
  >
    {['token', 'segment', 'text', ...columns.map(({ name }) => name), 'note'].map((name, index, names) => (
      // biome-ignore lint/a11y/useSemanticElements: see above
      // biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus
      <div
        key={name}
        role="columnheader"
        title={name}
        className={`truncate px-2 ${index === 2 || index === names.length - 1 ? '' : 'text-right'}`}
      >
        {shortName(name)}
      </div>
    ))}
  </div>
)

const WIDTHS: Readonly<Record<SheetColumn['meaning'], number>> = { ids: 76, mask: 84, logprobs: 132, number: 132 }
/** Smallest widths of token, segment, text and note, in pixels: in a narrow window the first arrays are visible beside their tokens. */
const OWN_WIDTHS = [58, 66, 84, 200] as const

/** Returns the smallest width in pixels of the header and of each row, which are separate grids. */
export const smallestWidth = (columns: readonly SheetColumn[]): number =>
  columns.reduce((sum, { meaning }) => sum + WIDTHS[meaning], 0) + OWN_WIDTHS.reduce((sum, width) => sum + width, 0)

function templateOf(columns: readonly SheetColumn[]): string {
  const [token, segment, text, note] = OWN_WIDTHS
  const own = columns.map(({ meaning }) => `${WIDTHS[meaning]}px`).join(' ')
  return `${token}px ${segment}px minmax(${text}px, 1fr) ${own} minmax(${note}px, 1fr)`
}

interface CellProps {
  readonly className?: string
  readonly isText?: boolean
  readonly title?: string | undefined
  readonly children: ReactNode
}

const Cell = ({ className = '', isText: fromLeft = false, title, children }: CellProps) => (
  // biome-ignore lint/a11y/useSemanticElements: see above
  // biome-ignore lint/a11y/useFocusableInteractive: see above
  <div
    role="gridcell"
    title={title}
    className={`overflow-hidden text-ellipsis whitespace-nowrap px-2 ${fromLeft ? '' : 'text-right'} ${className}`}
  >
    {children}
  </div>
)

function EntryCell({ column, token }: { readonly column: SheetColumn; readonly token: number }) {
  const entry = entryAt(column, token)
  if (entry.kind === 'absent')
    return (
      <Cell className="text-dim" title="The array has no entry for this token.">
        ·
      </Cell>
    )
  if (entry.kind === 'implied')
    return (
      <Cell className="text-dim" title={`Not written: the format means ${entry.value} here.`}>
        ({entry.value})
      </Cell>
    )
  const { value } = entry
  const isTrained = column.meaning === 'mask' && value === 1
  return (
    <Cell className={isTrained ? 'font-semibold text-accent' : ''} title={value === null ? 'null' : String(value)}>
      {value === null ? 'null' : Number.isInteger(value) ? String(value).replace('-', '−') : decimalText(value, 6)}
    </Cell>
  )
}
