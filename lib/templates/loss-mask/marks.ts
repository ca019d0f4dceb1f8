/** Marks of one mask on the tokens of another sequence. */

import { elementAt } from '#lib/util/element-at.ts'
import type { AlignedBlock } from './alignment.ts'
import type { MaskedTokens } from './masked-tokens.ts'
import type { Mark, MaskRun, TokenRange } from './report.ts'

/** Returns one mark for each token of `sequence`; `blocks` aligns it with `way`. */
export function alignMarks(
  sequence: Pick<MaskedTokens, 'ids' | 'bytes'>,
  way: MaskedTokens,
  blocks: readonly AlignedBlock[],
): readonly Mark[] {
  const marks = new Array<Mark>(sequence.ids.length).fill('unknown')
  for (const { kind, a, b } of blocks) {
    if (kind === 'same') {
      for (let index = a[0]; index < a[1]; index++)
        marks[index] = way.trained[b[0] + index - a[0]] ? 'trained' : 'untrained'
      continue
    }
    const isTrained = trainedBytes(way, b)
    let at = 0
    for (let index = a[0]; index < a[1]; index++) {
      const end = at + sequence.bytes(elementAt(sequence.ids, index)).length
      const own = isTrained.slice(at, end)
      marks[index] = own.every((byte) => byte) ? 'trained' : own.some((byte) => byte) ? 'partly' : 'untrained'
      at = end
    }
  }
  return marks
}

function trainedBytes({ ids, bytes, trained }: MaskedTokens, [start, end]: AlignedBlock['b']): readonly boolean[] {
  const all: boolean[] = []
  for (let index = start; index < end; index++)
    for (const _ of bytes(elementAt(ids, index))) all.push(trained[index] === true)
  return all
}

/** Returns the runs of equal marks, without gaps. */
export function runsOfMarks(marks: readonly Mark[]): readonly MaskRun[] {
  const runs: { start: number; end: number; mark: Mark }[] = []
  for (const [index, mark] of marks.entries()) {
    const last = runs.at(-1)
    if (last?.mark === mark) last.end = index + 1
    else runs.push({ start: index, end: index + 1, mark })
  }
  return runs
}

/** Returns a function from tokens of the second sequence to those of the first; it returns undefined if the first has none of them. */
export function counterparts(blocks: readonly AlignedBlock[]): (range: TokenRange) => TokenRange | undefined {
  return ({ start, end }) => {
    const touched = blocks.filter(({ b }) => b[0] < end && b[1] > start)
    const [first, last] = [touched[0], touched.at(-1)]
    if (!first || !last) return undefined
    return {
      start: first.kind === 'same' ? first.a[0] + Math.max(0, start - first.b[0]) : first.a[0],
      end: last.kind === 'same' ? last.a[1] - Math.max(0, last.b[1] - end) : last.a[1],
    }
  }
}
