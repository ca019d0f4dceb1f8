/** Tables of token widths for several trajectories: those of one tokenizer share a table and a vocabulary. */
import { createPieceTable, type PieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** The tables of a page in one font. */
export interface PieceTables {
  /** Returns the table for a trajectory, which knows the texts of its tokens. */
  readonly tableOf: (trajectory: TrajectoryView) => PieceTable
  /** Measures estimated widths; returns whether some are left. */
  readonly settle: (count: number) => boolean
  /** Increases when earlier widths are no longer valid. */
  readonly version: () => number
}

/** Returns tables that measure texts with `measure`, in cells. */
export function createPieceTables(measure: (text: string) => number): PieceTables {
  const known = new Map<string, { readonly table: PieceTable; readonly vocab: Record<number, Vocab[number]> }>()
  const taken = new WeakSet<Vocab>()
  return {
    tableOf: (trajectory) => {
      const { tokenizer } = trajectory.model
      const name = tokenizer?.fingerprint ?? `trajectory ${trajectory.id}`
      const found = known.get(name) ?? { table: createPieceTable(measure), vocab: {} }
      known.set(name, found)
      if (!taken.has(trajectory.vocab)) {
        taken.add(trajectory.vocab)
        Object.assign(found.vocab, trajectory.vocab)
        found.table.takeVocab(found.vocab)
      }
      return found.table
    },
    settle: (count) => [...known.values()].map(({ table }) => table.settle(count)).some(Boolean),
    version: () => [...known.values()].reduce((sum, { table }) => sum + table.version(), 0),
  }
}
