'use client'
import { type KeyboardEvent, useRef, useState } from 'react'
import { BOUNDARY_NAMES, type Cell } from '#lib/templates/prefix-preservation/report.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { BOUNDARIES, CONTENTS, cellLabel, optionsText, THINKING, VERDICTS, verdictWords } from './words.ts'

interface MatrixRow {
  readonly key: string
  readonly title: string
  readonly explanation: string
  readonly cells: readonly Cell[]
}

interface MatrixGroup {
  readonly key: string
  readonly title: string
  readonly rows: readonly MatrixRow[]
}

interface MatrixProps {
  readonly label: string
  readonly groups: readonly MatrixGroup[]
  readonly columns: readonly MatrixColumn[]
  /** Id of the cell whose finding is shown. */
  readonly selected: string | undefined
  readonly onSelect: (id: string) => void
}

interface MatrixColumn {
  readonly key: string
  readonly name: string
  readonly title: string
  /** Narrower columns under the name; empty for a single column. */
  readonly parts: readonly { readonly name: string; readonly title: string }[]
}

/** Grid of cells by verdict. One cell is in the tab order; the arrow keys, Home and End move between cells. */
export function Matrix({ label, groups, columns, selected, onSelect }: MatrixProps) {
  const rows = groups.flatMap((group) => group.rows)
  const [focused, setFocused] = useState<string>()
  const table = useRef<HTMLTableElement>(null)
  const cellIds = rows.flatMap((row) => cellsInOrder(row).map(({ id }) => id))
  const current = [focused, selected, cellIds[0]].find((id) => id !== undefined && cellIds.includes(id))
  const walk = (event: KeyboardEvent) => {
    const at = rows.findIndex((row) => cellsInOrder(row).some(({ id }) => id === current))
    const row = cellsInOrder(elementAt(rows, at))
    const column = row.findIndex(({ id }) => id === current)
    const beside = (cells: readonly Cell[] | undefined): Cell | undefined =>
      cells && (cells.length === 1 ? cells[0] : cells[row.length === 1 ? 0 : column])
    const next = {
      ArrowRight: row[column + 1],
      ArrowLeft: row[column - 1],
      ArrowDown: beside(rows[at + 1] && cellsInOrder(elementAt(rows, at + 1))),
      ArrowUp: beside(rows[at - 1] && cellsInOrder(elementAt(rows, at - 1))),
      Home: row[0],
      End: row.at(-1),
    }[event.key]
    if (!next) return
    event.preventDefault()
    setFocused(next.id)
    table.current?.querySelector<HTMLElement>(`[data-cell="${CSS.escape(next.id)}"]`)?.focus()
  }
  const hasParts = columns.some(({ parts }) => parts.length > 0)
  const width = columns.reduce((sum, { parts }) => sum + Math.max(1, parts.length), 0)
  return (
    <div className="overflow-x-auto">
      {/* biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table with arrow-key navigation is a grid */}
      <table ref={table} role="grid" aria-label={label} className="border-separate border-spacing-[3px] text-xs">
        <thead className="text-dim">
          <tr>
            <td rowSpan={hasParts ? 2 : 1} />
            {columns.map(({ key, name, title, parts }) => (
              <th
                key={key}
                scope="col"
                title={title}
                colSpan={Math.max(1, parts.length)}
                rowSpan={hasParts && parts.length === 0 ? 2 : 1}
                className="whitespace-nowrap px-1 text-center align-bottom font-normal"
              >
                {name}
              </th>
            ))}
          </tr>
          {hasParts && (
            <tr>
              {columns.flatMap(({ key, parts }) =>
                parts.map(({ name, title }) => (
                  <th
                    key={`${key} ${name}`}
                    scope="col"
                    title={title}
                    className="whitespace-nowrap font-normal text-[11px] text-faint"
                  >
                    {name}
                  </th>
                )),
              )}
            </tr>
          )}
        </thead>
        {groups.map((group) => (
          <tbody key={group.key}>
            {groups.length > 1 && (
              <tr>
                <th scope="rowgroup" colSpan={width + 1} className="pt-2 text-left font-medium font-mono text-[11px]">
                  {group.title}
                </th>
              </tr>
            )}
            {group.rows.map((row) => (
              <tr key={row.key}>
                <th
                  scope="row"
                  title={row.explanation}
                  className="sticky left-0 whitespace-nowrap bg-ground pr-2 text-left font-normal text-dim"
                >
                  {row.title}
                </th>
                {cellsInOrder(row).map((cell) => (
                  <MatrixCell
                    key={cell.id}
                    cell={cell}
                    span={cellsInOrder(row).length === 1 ? Math.max(1, row.cells.length) : 1}
                    isWhole={cellsInOrder(row).length < row.cells.length}
                    isSelected={cell.id === selected}
                    isReachable={cell.id === current}
                    onKeyDown={walk}
                    onSelect={() => {
                      setFocused(cell.id)
                      onSelect(cell.id)
                    }}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  )
}

/** Legend of the columns, rows and signs. */
export function MatrixLegend() {
  const terms = [
    ...BOUNDARY_NAMES.map((boundary) => BOUNDARIES[boundary]),
    ...[CONTENTS.without, CONTENTS.with].map(({ name, title }) => ({ name, title: `Reply with ${title}` })),
    ...Object.values(THINKING),
  ]
  return (
    <details className="text-xs">
      <summary className="text-dim hover:text-ink">What the columns and rows mean</summary>
      <p className="mt-1 max-w-prose text-dim">
        A cell is one conversation. Turn n is rendered with its generation prompt, the reply and the new messages are
        appended, and the result is compared with turn n+1 as the template renders it. A column says what follows the
        reply.
      </p>
      <dl className="mt-1 grid max-w-prose grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5">
        {terms.map(({ name, title }) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="whitespace-nowrap font-medium">{name}</dt>
            <dd className="text-dim">{title}</dd>
          </div>
        ))}
        {Object.values(VERDICTS).map(({ sign, text }) => (
          <div key={text} className="col-span-2 grid grid-cols-subgrid">
            <dt className="font-medium">{sign}</dt>
            <dd className="text-dim">{text}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

/** Returns the cells that the arrow keys visit. A row that does not apply to the template is a single cell with the reason. */
function cellsInOrder({ cells }: MatrixRow): readonly Cell[] {
  const [first] = cells
  const why = (cell: Cell | undefined) => (cell?.verdict.kind === 'notApplicable' ? cell.verdict.why : undefined)
  return first && cells.length > 1 && why(first) !== undefined && cells.every((cell) => why(cell) === why(first))
    ? [first]
    : cells
}

interface MatrixCellProps {
  readonly cell: Cell
  readonly span: number
  /** Whether the cell represents its whole row. */
  readonly isWhole: boolean
  readonly isSelected: boolean
  readonly isReachable: boolean
  readonly onKeyDown: (event: KeyboardEvent) => void
  readonly onSelect: () => void
}

function MatrixCell({ cell, span, isWhole, isSelected, isReachable, onKeyDown, onSelect }: MatrixCellProps) {
  const { verdict } = cell
  const { sign, look } = verdictWords(verdict)
  const label = cellLabel(cell)
  return (
    <td colSpan={span} className="p-0">
      <button
        type="button"
        data-cell={cell.id}
        data-verdict={verdict.kind}
        data-merges={(verdict.kind === 'unstable' && !verdict.finding.textDiffers) || undefined}
        tabIndex={isReachable ? 0 : -1}
        aria-pressed={isSelected}
        aria-label={label}
        title={label}
        onKeyDown={onKeyDown}
        onClick={onSelect}
        className={`h-7 w-full rounded border ${isWhole ? 'whitespace-nowrap px-2 text-left' : 'min-w-9'} ${look} ${isSelected ? 'border-ink' : 'border-line hover:border-line-strong'}`}
      >
        {isWhole && verdict.kind === 'notApplicable' ? `${sign} ${verdict.why}` : sign}
      </button>
    </td>
  )
}

/** Groups the cells of the scripted conversations: by options, with a row per form of thinking and a column per boundary. */
export function scriptGroups(cells: readonly Cell[]): readonly MatrixGroup[] {
  const groups = new Map<string, Map<string, MatrixRow>>()
  for (const cell of cells) {
    const { place } = cell
    if (place.kind !== 'script') continue
    const title = optionsText(place.options)
    const rows = groups.get(title) ?? new Map<string, MatrixRow>()
    groups.set(title, rows)
    const { name, title: explanation } = THINKING[place.thinking]
    const row = rows.get(name)
    rows.set(name, { key: `${title} ${name}`, title: name, explanation, cells: [...(row?.cells ?? []), cell] })
  }
  return [...groups].map(([title, rows]) => ({ key: title, title, rows: [...rows.values()] }))
}

/** Columns of the scripted conversations: a boundary each, with parts for replies without and with text. */
export const SCRIPT_COLUMNS: readonly MatrixColumn[] = BOUNDARY_NAMES.map((boundary) => ({
  key: boundary,
  ...BOUNDARIES[boundary],
  parts: boundary === 'end' || boundary === 'user' || boundary === 'system' ? [] : [CONTENTS.without, CONTENTS.with],
}))

/** Returns the cells of a trajectory with a row per form of the messages and a column per reply. */
export function recordedGroups(cells: readonly Cell[]): readonly MatrixGroup[] {
  const rows = (['text', 'parsed'] as const).map((form) => ({
    key: form,
    title: form === 'text' ? 'messages as text' : 'messages as parsed',
    explanation:
      form === 'text'
        ? 'The content of a reply is its whole text'
        : 'Thinking, content and calls apart, as clients keep them',
    cells: cells.filter(({ place }) => place.kind === 'trajectory' && place.form === form),
  }))
  return [{ key: 'trajectory', title: '', rows }]
}

/** Returns the columns of a trajectory: one per reply. */
export const recordedColumns = (cells: readonly Cell[]): readonly MatrixColumn[] =>
  cells
    .filter(({ place }) => place.kind === 'trajectory' && place.form === 'text')
    .map(({ id, place }, index) => ({
      key: id,
      name: `${index + 1} ${BOUNDARIES[place.boundary].name}`,
      title: `Reply ${index + 1}. ${BOUNDARIES[place.boundary].title}`,
      parts: [],
    }))
