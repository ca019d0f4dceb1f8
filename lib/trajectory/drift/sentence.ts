/** Summarises a comparison in one sentence, for the issue tracker of a trainer. */
import type { DriftReport } from './report.ts'

/** Returns the sentence, or undefined if both sides are recorded. */
export function issueSentence({
  replayed,
  rows,
  trained,
  calls,
  firstRewrite,
}: Pick<DriftReport, 'replayed' | 'rows' | 'trained' | 'calls' | 'firstRewrite'>): string | undefined {
  const subject = SUBJECTS[replayed]
  if (subject === undefined) return undefined
  return `${subject} ${[rowsText(rows.count), changeText(trained), placeText(firstRewrite, calls.length)].filter(Boolean).join('; ')}.`
}

/** Recorded ids are not a pipeline that an issue could be about. */
const SUBJECTS: Readonly<Record<DriftReport['replayed'], string | undefined>> = {
  rendered: 'With this template your trainer sees',
  encoded: 'With its text encoded again your trainer sees',
  read: 'With the prompts that the server read your trainer sees',
  ids: undefined,
}

const rowsText = (count: number): string => (count === 1 ? '1 row' : `${count} rows instead of 1`)

function changeText({ touched, of }: DriftReport['trained']): string {
  if (of === 0) return 'it has no trained tokens'
  const all = `${of} trained token${of === 1 ? '' : 's'}`
  return `${touched === 0 ? 'none' : touched} of ${all} ${touched > 1 ? 'change' : 'changes'}`
}

function placeText(first: DriftReport['firstRewrite'], calls: number): string {
  if (first) return `first at call ${first.turn + 1}${first.line === undefined ? '' : `, template line ${first.line}`}`
  return calls > 1 ? 'every prompt begins with the tokens of the call before' : ''
}
