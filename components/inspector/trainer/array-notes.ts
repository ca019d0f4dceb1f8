/** Notes on the tokens of a sample: where arrays begin and end, and the first and last trained token of each turn. */
import type { SheetColumn } from '#lib/analysis/trainer/column.ts'
import type { SheetCut, SheetRow } from '#lib/analysis/trainer/sheet.ts'
import { int32At } from '#lib/util/element-at.ts'

/** Note on one token. */
export interface ArrayNote {
  readonly isCut: true | undefined
  readonly words: string
}

/** Returns the notes of a sample by the index of the token. */
export function notesOf({ cuts, turns, columns }: SheetRow): ReadonlyMap<number, ArrayNote> {
  const notes = new Map<number, ArrayNote>()
  const add = (token: number, words: string, isCut?: true) => {
    const known = notes.get(token)
    notes.set(token, {
      isCut: known?.isCut ?? isCut,
      words: known ? `${known.words}; ${words}` : words,
    })
  }
  for (const cut of cuts) add(cut.token, sheetCutText(cut, columns), true)
  for (let at = 0; at < turns.length; at += 4) {
    const [segment, from, to] = [int32At(turns, at), int32At(turns, at + 1), int32At(turns, at + 2)]
    add(from, `first trained of segment ${segment}`)
    add(to, `last trained of segment ${segment}`)
  }
  return notes
}

/** Returns a text about the arrays that begin and end at a cut. */
export function sheetCutText({ begins, ends }: SheetCut, columns: readonly SheetColumn[]): string {
  const arrays = columns.filter(({ entries }) => entries > 0)
  if (begins.length === arrays.length && ends.length === arrays.length) return 'every array starts again'
  const over = ends.filter((name) => !begins.includes(name))
  return [
    begins.length > 0 && `${begins.map(shortName).join(', ')} ${begins.length > 1 ? 'begin' : 'begins'}`,
    over.length > 0 && `${over.map(shortName).join(', ')} ended`,
  ]
    .filter(Boolean)
    .join('; ')
}

/** Returns the name of an array without the prefix that all arrays share. */
export const shortName = (name: string): string => name.replace(/^(segments\[\]\.(columns\.)?|metadata\.)/, '')
