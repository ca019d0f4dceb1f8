import { withDoubleCapacity } from '#components/token-view/grid/line-store.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import {
  BLOCK_GAP,
  DIVIDER_HEIGHT,
  END_GAP,
  FIELDS,
  KINDS,
  type Rows,
  SHORT_BLOCK_GAP,
  SIDES,
  STARTS_BLOCK,
} from './rows.ts'

type Places = Readonly<Record<SideName, number>>

/** Returns a writer of the table of items; rows.ts has the layout of the table. */
export function itemWriter({ rowHeight, arrangement }: Pick<Rows, 'rowHeight' | 'arrangement'>) {
  let table = new Int32Array(FIELDS << 6)
  let tops = new Float64Array(1 << 6)
  let count = 0
  let rowCount = 0
  let height = 0
  let open:
    | {
        run: number
        runEnd: number
        at: Places
        behind: Places
        flags: number
        kind: 'tokens' | 'fold' | 'divider'
        lines: Places
        linesEnd: Places
      }
    | undefined
  let isBlockNext = true

  /** Whether the last block has a single row so far. */
  let isShort = false

  const finish = () => {
    const item = open
    open = undefined
    if (!item || (item.behind.left === item.at.left && item.behind.right === item.at.right)) return
    if (FIELDS * (count + 1) > table.length) {
      table = withDoubleCapacity(table)
      const room = new Float64Array(2 * tops.length)
      room.set(tops)
      tops = room
    }
    const lines = SIDES.map((side) => item.linesEnd[side] - item.lines[side]) as [number, number]
    const rows = item.kind !== 'tokens' ? 1 : arrangement === 'unified' ? lines[0] + lines[1] : Math.max(...lines)
    const { run, runEnd, at, behind, flags } = item
    const { lines: first, linesEnd: last } = item
    const startsBlock = (flags & STARTS_BLOCK) !== 0
    table.set(
      [KINDS.indexOf(item.kind), run, runEnd, at.left, behind.left, at.right, behind.right].concat([
        first.left,
        last.left,
        first.right,
        last.right,
        rowCount,
        flags,
      ]),
      FIELDS * count,
    )
    if (isShort && startsBlock) height += SHORT_BLOCK_GAP
    isShort = startsBlock && item.kind === 'tokens' && rows === 1
    tops[count] = height
    count++
    rowCount += rows
    height += item.kind === 'divider' ? DIVIDER_HEIGHT : rows * rowHeight + (startsBlock ? BLOCK_GAP : 0)
    isBlockNext = false
  }
  return {
    begin: (run: number, at: Places, flags: number, left: number, right: number) => {
      finish()
      const lines = { left, right }
      const block = isBlockNext ? STARTS_BLOCK : 0
      open = {
        run,
        runEnd: run,
        at,
        behind: at,
        flags: flags | block,
        kind: 'tokens',
        lines,
        linesEnd: lines,
      }
    },
    fold: (kind: 'fold' | 'divider') => {
      if (open) open.kind = kind
    },
    /** Sets the end of the open item. */
    end: (runEnd: number, behind: Places, left: number, right: number) => {
      if (!open) return
      open.runEnd = runEnd
      open.behind = behind
      open.linesEnd = { left, right }
    },
    close: (isBlock: boolean) => {
      finish()
      isBlockNext ||= isBlock
    },
    isBegun: () => open !== undefined,
    /** Returns the first line of the open item. */
    line: (side: SideName) => open?.lines[side] ?? 0,
    written: (): Pick<Rows, 'items' | 'tops' | 'itemCount' | 'rowCount' | 'height'> => {
      finish()
      return {
        items: table,
        tops,
        itemCount: count,
        rowCount,
        height: count === 0 ? 0 : height + END_GAP + (isShort ? SHORT_BLOCK_GAP : 0),
      }
    },
  }
}
