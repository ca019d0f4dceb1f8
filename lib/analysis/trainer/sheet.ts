/**
 * Computes the Trainer tab: the arrays of a format's record, each entry next to its token. The record is the one that Export saves, so
 * the tab cannot differ from the file.
 */

import { trainerFormats } from '#lib/formats/registry.ts'
import { type TrainingRow, valueAtPath } from '#lib/formats/writing/training-row.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { int32At } from '#lib/util/element-at.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { columnOf, type SheetColumn } from './column.ts'
import { recordIn } from './record.ts'

/** Contents of the Trainer tab for one format. */
export interface TrainerSheet {
  /** Formats that can be chosen. */
  readonly formats: readonly { readonly name: string; readonly label: string }[]
  readonly format: string
  readonly keeps: string
  /** What the file leaves out of this trajectory, for a person. */
  readonly lost: readonly string[]
  /** Number of tokens of the trajectory. */
  readonly tokens: number
  /** One row, unless the format writes several samples for a trajectory. */
  readonly rows: readonly SheetRow[]
  /** Other fields of the record, each summarized in a few characters. */
  readonly others: readonly { readonly name: string; readonly text: string }[]
}

/** One sample of the record. */
export interface SheetRow {
  readonly columns: readonly SheetColumn[]
  /** Lengths that the record states, and lengths that its tokens require. `stated` is null if the record states no number. */
  readonly lengths: readonly { readonly name: string; readonly stated: number | null; readonly expected: number }[]
  readonly cuts: readonly SheetCut[]
  /** Sums of the loss mask; undefined if the format has no mask. */
  readonly mask: MaskSums | undefined
  /** First and last trained token of each segment that has any, and their number: flat [segment, first, last, trained, …]. */
  readonly turns: Int32Array
  /** Those tokens, and the cuts, as marks of the token view: flat [start, end, …]. */
  readonly edgeMarks: Int32Array
  readonly cutMarks: Int32Array
}

/** A position inside the trajectory where arrays begin or end. */
export interface SheetCut {
  /** The first token after the cut. */
  readonly token: number
  readonly begins: readonly string[]
  readonly ends: readonly string[]
}

interface MaskSums {
  readonly trained: number
  readonly context: number
  /** First and last trained token, as positions in the trajectory; undefined if no token is trained. */
  readonly first: number | undefined
  readonly last: number | undefined
  /** Number of tokens whose mask in the file differs from the mask of the trajectory. */
  readonly differing: number
}

/** Task that computes the Trainer tab. An undefined format means the first format of a trainer. */
export const trainerSheet: InspectTask<{ readonly format: string | undefined }, undefined, TrainerSheet> = function* (
  { format: name },
  view,
) {
  const { trajectory, format, written, rows } = recordIn(name, view)
  yield
  const tokens = trajectory.segments.reduce((sum, { ids }) => sum + ids.length, 0)
  return {
    formats: trainerFormats.map(({ name, label }) => ({ name, label })),
    format: format.name,
    keeps: format.keeps,
    lost: written.losses,
    tokens,
    rows: rows.map((row) => sheetRow(row, written.value, trajectory, tokens)),
    others: othersIn(written.value, rows),
  }
}

function sheetRow(row: TrainingRow, record: object, trajectory: Trajectory, tokens: number): SheetRow {
  const columns = row.fields.map((field) => columnOf(record, field, tokens))
  const mask = columns.find(({ meaning }) => meaning === 'mask')?.values
  const turns = mask ? turnsOf(mask, trajectory) : new Int32Array()
  const cuts = cutsOf(row, tokens)
  return {
    columns,
    lengths: row.lengths.map(({ name, path, tokens: { start, end } }) => ({
      name,
      stated: statedLength(valueAtPath(record, path)),
      expected: end - start,
    })),
    cuts,
    mask: mask && maskSums(mask, turns, trajectory),
    turns,
    edgeMarks: edgeMarks(turns),
    cutMarks: Int32Array.from(cuts.flatMap(({ token }) => [token, token + 1])),
  }
}

/** Returns a stated length. If the record lists segments as [is output, length], it is their sum. */
function statedLength(stated: unknown): number | null {
  if (Array.isArray(stated)) return stated.reduce((sum: number, [, length]) => sum + Number(length), 0)
  return typeof stated === 'number' ? stated : null
}

function turnsOf(mask: SheetColumn['values'], { segments }: Trajectory): Int32Array {
  const turns: number[] = []
  let start = 0
  for (const [index, { ids }] of segments.entries()) {
    const end = start + ids.length
    let first = start
    while (first < end && mask[first] !== 1) first++
    let last = end - 1
    while (last > first && mask[last] !== 1) last--
    if (first < end) {
      let trained = 0
      for (const isTrained of mask.subarray(first, last + 1)) trained += isTrained
      turns.push(index, first, last, trained)
    }
    start = end
  }
  return Int32Array.from(turns)
}

function maskSums(mask: SheetColumn['values'], turns: Int32Array, { segments }: Trajectory): MaskSums {
  let trained = 0
  for (let at = 3; at < turns.length; at += 4) trained += int32At(turns, at)
  let differing = 0
  let start = 0
  for (const segment of segments) {
    for (let index = 0; index < segment.ids.length; index++)
      if ((mask[start + index] === 1) !== isTrained(segment, index)) differing++
    start += segment.ids.length
  }
  return { trained, context: mask.length - trained, first: turns[1], last: turns.at(-2), differing }
}

/** Marks the first and the last trained token of each turn, with one mark if they are the same. */
function edgeMarks(turns: Int32Array): Int32Array {
  const marks: number[] = []
  for (let at = 0; at < turns.length; at += 4) {
    const [first, last] = [int32At(turns, at + 1), int32At(turns, at + 2)]
    marks.push(first, first + 1)
    if (last > first) marks.push(last, last + 1)
  }
  return Int32Array.from(marks)
}

/** Finds the cuts inside the trajectory. Arrays that begin at its first token or end at its last one make no cut there. */
function cutsOf({ fields }: TrainingRow, tokens: number): SheetCut[] {
  const cuts = new Map<number, { readonly begins: string[]; readonly ends: string[] }>()
  const cutAt = (token: number) => {
    const cut = cuts.get(token) ?? { begins: [], ends: [] }
    cuts.set(token, cut)
    return cut
  }
  for (const { name, parts } of fields)
    for (const { kind, tokens: part } of parts) {
      if (kind === 'implied' || part.end === part.start) continue
      if (part.start > 0) cutAt(part.start).begins.push(name)
      if (part.end < tokens) cutAt(part.end).ends.push(name)
    }
  return [...cuts].map(([token, cut]) => ({ token, ...cut })).sort((a, b) => a.token - b.token)
}

/** Summarizes the other keys of the record. Large values are replaced by their size. */
function othersIn(record: object, rows: readonly TrainingRow[]): TrainerSheet['others'] {
  const arrays = new Set(rows.flatMap(({ fields }) => fields.flatMap(({ parts }) => parts.map(topKey))))
  return Object.entries(record)
    .filter(([name, value]) => !arrays.has(name) && value !== undefined)
    .map(([name, value]) => ({ name, text: inBrief(value) }))
}

const topKey = (part: TrainingRow['fields'][number]['parts'][number]): string | number | undefined =>
  part.kind === 'array' ? part.path[0] : undefined

const BRIEF = 80

function inBrief(value: unknown): string {
  const [size, what] = Array.isArray(value)
    ? [value.length, 'entries']
    : typeof value === 'object' && value !== null
      ? [Object.keys(value).length, 'fields']
      : [0, '']
  if (size > BRIEF) return `${countText(size)} ${what}`
  const json = JSON.stringify(value)
  return json.length <= BRIEF ? json : what === '' ? `${json.slice(0, BRIEF)}…` : `${size} ${what}`
}
