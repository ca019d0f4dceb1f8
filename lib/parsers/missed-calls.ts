/** Finds markup of tool calls that were not read: a run with the wrong parser for its template has no error. */

import { hasSameJson } from '#lib/json/same-json.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { TextWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import type { ResponseView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { foreignFormIn } from './foreign-forms.ts'
import { textReader } from './parsed-text.ts'
import { type ParsedCall, spellingsOf, type ToolParser } from './parser.ts'
import { parsers } from './registry.ts'

/** A parser that reads the calls: one here, or only one of SGLang's. */
export interface CallReader {
  readonly kind: 'rollscope' | 'sglang'
  /** Name in files and settings; for SGLang's parsers, its `--tool-call-parser`. */
  readonly name: string
}

interface MissedCalls {
  readonly reader: CallReader
  /** Number of the segment. */
  readonly segment: number
  /** Tokens of the segment: each call, or the mark of a format without a parser here. */
  readonly spans: readonly Span[]
}

/**
 * Returns each response and each parser, including the run's, that finds more calls than were recorded. Empty if texts
 * are unknown.
 */
export function missedCalls(trajectory: TrajectoryView): readonly MissedCalls[] {
  if (lacksTexts(trajectory)) return []
  return trajectory.segments.flatMap((segment, index) =>
    segment.kind === 'response'
      ? readersOf(segment, trajectory).map((found): MissedCalls => ({ segment: index, ...found }))
      : [],
  )
}

/** Returns the parsers that find more calls. A format without a parser here is reported if no parser reads a call and none was recorded. */
function readersOf(segment: ResponseView, trajectory: TrajectoryView): readonly Omit<MissedCalls, 'segment'>[] {
  const textFor = textReader(segment, trajectory)
  const found = parsers
    .map((parser) => ({
      reader: { kind: 'rollscope', name: parser.name } as const,
      spans: onlyFoundBy(parser, textFor([parser]), segment, trajectory),
    }))
    .filter(({ spans }) => spans.length > 0)
    // Parsers of related formats find the same calls. The first one counts.
    .filter(({ spans }, index, all) => all.findIndex((other) => hasSameJson(other.spans, spans)) === index)
  if (found.length > 0 || segment.toolCalls.some(({ kind }) => kind === 'parsed')) return found
  return foreignForm(textFor([]), segment)
}

/** Returns the calls in a response if this parser reads more than were recorded, otherwise none. */
function onlyFoundBy(
  parser: ToolParser,
  written: TextWithStarts,
  segment: ResponseView,
  trajectory: TrajectoryView,
): readonly Span[] {
  const { text, starts } = written
  const isOpened = spellingsOf(parser.delimiters).some(
    ({ open, section }) => text.includes(open) || (section && text.includes(section.open)),
  )
  if (!isOpened) return []
  const { tools } = trajectory.model
  // Brackets alone do not mark a call unless they name a tool.
  if (parser.delimiters.close === '' && tools.length === 0) return []
  const isKnown = (call: ParsedCall) =>
    call.kind === 'parsed' && (tools.length === 0 || tools.some(({ name }) => name === call.name))
  const read = parser.parse(text, thinkRanges(segment, text, starts), tools).filter(isKnown)
  const recorded = segment.toolCalls.filter(({ kind }) => kind === 'parsed')
  if (read.length <= recorded.length) return []
  return read
    .filter((call) => !recorded.some(({ text: own }) => own.start < call.text.end && own.end > call.text.start))
    .map((call) => tokensAt(written, call.text.start, call.text.end))
}

function foreignForm(written: TextWithStarts, segment: ResponseView): readonly Omit<MissedCalls, 'segment'>[] {
  const { text, starts } = written
  const outside = withoutRanges(text, thinkRanges(segment, text, starts))
  const form = foreignFormIn(outside)
  if (!form) return []
  const at = outside.indexOf(form.mark)
  const reader = { kind: 'sglang', name: form.sglangParser } as const
  return [{ reader, spans: [tokensAt(written, at, at + form.mark.length)] }]
}

function thinkRanges({ thinks }: ResponseView, text: string, starts: readonly number[]) {
  // A stop token that is not part of the text may be the last token of a think block.
  const offsetOf = (token: number): number => starts[token] ?? text.length
  return thinks.map(({ start, end }) => ({ start: offsetOf(start), end: offsetOf(end) }))
}

/** Replaces the ranges by spaces, so that offsets remain. */
const withoutRanges = (text: string, ranges: readonly { readonly start: number; readonly end: number }[]): string =>
  ranges.reduce((rest, { start, end }) => rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end), text)
