/** Formats with calls between the tags of a section. */

import { elementAt } from '#lib/util/element-at.ts'
import type { ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { refuseCall } from './runs.ts'
import { anyOf } from './tags.ts'
import { createRangeCheck } from './within.ts'

interface SectionRules {
  readonly section: NonNullable<ToolParser['delimiters']['section']>
  /** True if the calls of an unclosed section are malformed. */
  readonly mustClose: boolean
  /** True if calls need no section in a text that has none. */
  readonly mayLack: boolean
}

/** Marks calls outside of a section, or in an unclosed one, as malformed. */
export function requireSections(
  text: string,
  calls: readonly ParsedCall[],
  shielded: readonly TextRange[],
  { section, mustClose, mayLack }: SectionRules,
): readonly ParsedCall[] {
  const isInCall = createRangeCheck(calls.map((call) => call.text))
  const isShielded = createRangeCheck(shielded)
  const tags = tagsIn(text, section).filter(({ index }) => !isInCall(index) && !isShielded(index))
  if (mayLack && !tags.some(({ opens }) => opens)) return calls
  const settled: ParsedCall[] = []
  /** Number of the first call of the open section. */
  let firstCall: number | undefined
  const leaveOpen = () => {
    for (let index = firstCall ?? settled.length; mustClose && index < settled.length; index++)
      settled[index] = refuseCall(elementAt(settled, index), `the section is not closed: no ${section.close} follows`)
  }
  let next = 0
  const readTags = (until: number) => {
    for (let tag = tags[next]; tag && tag.index < until; tag = tags[++next]) {
      if (tag.opens) leaveOpen()
      firstCall = tag.opens ? settled.length : undefined
    }
  }
  for (const call of calls) {
    readTags(call.text.start)
    settled.push(
      firstCall === undefined ? refuseCall(call, `the call is in no section: ${section.open} is missing`) : call,
    )
  }
  readTags(text.length)
  leaveOpen()
  return settled
}

function tagsIn(text: string, section: SectionRules['section']) {
  return Array.from(text.matchAll(anyOf([section.open, section.close])), ({ 0: tag, index }) => ({
    index,
    opens: tag === section.open,
  }))
}
