/** Measures which parser reads a file of completions. */

import type { ToolParser } from '#lib/parsers/parser.ts'
import { parsers } from '#lib/parsers/registry.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { analyse, type ParserReading } from './analysis.ts'
import type { ParserScore } from './template-fit.ts'

/** What one parser reads in one completion, in numbers. */
export interface CompletionCounts {
  readonly calls: number
  /** Calls that were read, with a name that a tool may have. */
  readonly read: number
  /** Calls that were read, of a tool that exists, with arguments that fit. */
  readonly good: number
  readonly malformed: number
  /** UTF-16 code units that are in neither calls nor rest. */
  readonly dropped: number
  /** Calls in think blocks. */
  readonly drafted: number
}

/** How well each parser reads a file of completions. */
export interface CompletionFit {
  /** For each completion, one tally for each parser, in the registry's order. */
  readonly rows: readonly (readonly CompletionCounts[])[]
  /** Number of completions in which any parser finds a call. */
  readonly withCalls: number
  readonly scores: readonly CompletionScore[]
}

interface CompletionScore extends ParserScore {
  /** Characters that were read of calls that failed: of two parsers that read nothing, one fails later. */
  readonly reach: number
  /** Number of completions of which another parser reads more calls. */
  readonly missedIn: number
  /** The first of these completions. */
  readonly missed: readonly MissedCalls[]
}

/** A completion of which another parser reads more calls. */
export interface MissedCalls {
  /** Index of the completion. */
  readonly completion: number
  /** The parser that reads most calls of it. */
  readonly parser: string
  /** Number of calls that it reads beyond those of this parser. */
  readonly calls: number
}

/** Completions between two reports of progress. */
const STEP = 50
const MOST_MISSED = 100

/** Returns the fit of each parser; yields how many completions have been read. */
export function* completionFit(
  completions: readonly string[],
  tools: readonly ToolSpec[],
): Generator<number, CompletionFit> {
  const observed: Observation[][] = []
  for (const [index, text] of completions.entries()) {
    if (index > 0 && index % STEP === 0) yield index
    observed.push(parsers.map((parser) => observe(analyse(text, parser, tools), parser)))
  }
  const rows = observed.map((row) => row.map(({ tally }) => tally))
  const relevant = rows.filter((row) => row.some(({ calls }) => calls > 0))
  const scores = parsers.map((parser, at): CompletionScore => {
    const own = observed.map((row) => elementAt(row, at))
    const missed = missedBy(rows, at)
    const credit = relevant.reduce((sum, row) => sum + creditOf(row, at), 0)
    return {
      parser: parser.name,
      score: relevant.length === 0 ? 0 : credit / relevant.length,
      reasons: reasonsOf(own, missed),
      reach: own.reduce((sum, { reach }) => sum + reach, 0),
      missedIn: missed.length,
      missed: missed.slice(0, MOST_MISSED),
    }
  })
  return { rows, withCalls: relevant.length, scores }
}

interface Observation {
  readonly tally: CompletionCounts
  readonly reach: number
  /** Why the first malformed call could not be read. */
  readonly why: string | undefined
  /** Why the arguments of the first misfit do not fit. */
  readonly fault: string | undefined
  /** Names that no tool has in any application. */
  readonly odd: readonly string[]
  /** Names of tools that are not given. */
  readonly unknown: readonly string[]
}

/** Names that tools may have. Any other name that a lenient format reads is a sign of the wrong format. */
const PLAUSIBLE_NAME = /^[\p{L}\p{N}_.:/-]+$/u

function observe({ calls, dropped, drafted }: ParserReading, { delimiters }: ToolParser): Observation {
  const parsed = calls.filter((call) => call.kind === 'parsed')
  const malformed = calls.filter((call) => call.kind === 'malformed')
  const read = parsed.filter(({ name }) => PLAUSIBLE_NAME.test(name))
  const known = read.filter(({ isKnown }) => isKnown !== false)
  const misfit = known.find(({ fault }) => fault !== undefined)
  return {
    tally: {
      calls: calls.length,
      read: read.length,
      good: known.filter(({ fault }) => fault === undefined).length,
      malformed: malformed.length,
      dropped: dropped.reduce((sum, { start, end }) => sum + end - start, 0),
      drafted: drafted.length,
    },
    reach: malformed.reduce((sum, { at, span }) => sum + at.offset - span.start - delimiters.open.length, 0),
    why: malformed[0]?.why,
    fault: misfit && `${misfit.name}: ${misfit.fault}`,
    odd: parsed.filter((call) => !read.includes(call)).map(({ name }) => name),
    unknown: read.filter(({ isKnown }) => isKnown === false).map(({ name }) => name),
  }
}

/**
 * Returns the credit for one completion: a call that was read counts half, one that also fits its tool counts whole, divided by the number
 * of calls that can be found.
 */
function creditOf(row: readonly CompletionCounts[], at: number): number {
  const { read, good, calls } = elementAt(row, at)
  const all = Math.max(calls, ...row.map((tally) => tally.read))
  return all === 0 ? 0 : (read + good) / 2 / all
}

function missedBy(rows: readonly (readonly CompletionCounts[])[], at: number): MissedCalls[] {
  return rows.flatMap((row, completion) => {
    const own = elementAt(row, at)
    const best = row.reduce((a, b) => (b.read > a.read ? b : a), own)
    if (best.read <= own.read) return []
    return [{ completion, parser: elementAt(parsers, row.indexOf(best)).name, calls: best.read - own.read }]
  })
}

function reasonsOf(observed: readonly Observation[], missed: readonly MissedCalls[]): readonly string[] {
  const total = (field: keyof CompletionCounts) => observed.reduce((sum, { tally }) => sum + tally[field], 0)
  const completions = countWithNoun(observed.length, 'completion')
  const holding = observed.filter(({ tally }) => tally.calls > 0).length
  const odd = namesIn(observed.flatMap((one) => one.odd))
  const unknown = namesIn(observed.flatMap((one) => one.unknown))
  const fault = observed.find((one) => one.fault !== undefined)?.fault
  const why = observed.find((one) => one.why !== undefined)?.why
  const missedCalls = missed.reduce((sum, { calls }) => sum + calls, 0)
  return [
    total('calls') === 0
      ? `finds no call in ${completions}`
      : `reads ${total('read')} of ${countWithNoun(total('calls'), 'call')}, in ${holding} of ${completions}`,
    why !== undefined && `${total('malformed')} malformed, the first because: ${why}`,
    odd !== '' && `reads names without a tool: ${odd}`,
    unknown !== '' && `reads calls of undefined tools: ${unknown}`,
    fault !== undefined && `reads arguments that do not fit their tool, the first of ${fault}`,
    total('dropped') > 0 && `drops ${countWithNoun(total('dropped'), 'character')} silently`,
    total('drafted') > 0 && `${countWithNoun(total('drafted'), 'call')} only drafted in a think block`,
    missedCalls > 0 && `misses ${countWithNoun(missedCalls, 'call')} that ${namesOf(missed)} finds`,
  ].filter((reason) => reason !== false)
}

const namesIn = (names: readonly string[]): string =>
  [...new Set(names)]
    .slice(0, 3)
    .map((name) => JSON.stringify(excerpt(name, 60)))
    .join(', ')

const namesOf = (missed: readonly MissedCalls[]): string =>
  [...new Set(missed.map(({ parser }) => parser))].join(' or ')
