/** Analyzes what one parser reads, leaves, drops and refuses of a completion. */

import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { markupIn, textWithoutCalls } from '#lib/parsers/reading/rest.ts'
import { createRangeCheck } from '#lib/parsers/reading/within.ts'
import { type ThinkBlock, thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import { THINK_ENDS } from '#lib/parsers/thinking-forms.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { callFault, type ReadArgument, readArguments } from './arguments.ts'
import { createPositionFinder, type TextPosition } from './text-position.ts'
import { type DroppedText, droppedInCall, droppedTags, type Tile, tilesOf } from './tiles.ts'

/** What one parser reads in a completion. */
export interface ParserReading {
  readonly parser: string
  /** The tiles in order; together they are the text. */
  readonly tiles: readonly Tile[]
  readonly calls: readonly ParsedCallResult[]
  readonly thinking: readonly ThinkBlock[]
  /** The text without calls and without the markup that the format writes around them. */
  readonly rest: string
  readonly dropped: readonly DroppedText[]
  /** Calls in think blocks, which are not executed. */
  readonly drafted: readonly Drafted[]
}

/** A call that was read, or the reason why it could not be read. */
export type ParsedCallResult =
  | {
      readonly kind: 'parsed'
      readonly span: TextRange
      readonly raw: string
      readonly writtenId?: string
      readonly name: string
      readonly arguments: readonly ReadArgument[]
      /** Whether there is a tool of this name; undefined if no tools are given. */
      readonly isKnown: boolean | undefined
      /** Why the arguments do not fit the tool's schema; omitted if they do. */
      readonly fault?: string
    }
  | {
      readonly kind: 'malformed'
      readonly span: TextRange
      readonly raw: string
      readonly writtenId?: string
      readonly name?: string
      /** What was found there, and what was expected. */
      readonly why: string
      readonly at: TextPosition
    }

interface Drafted extends TextRange {
  readonly name?: string
}

/** Analyzes a text with one parser. Think blocks are found by their text, because there are no ids. Never throws. */
export function analyse(text: string, parser: ToolParser, tools: readonly ToolSpec[]): ParserReading {
  const { calls, thinks } = parseCompletion(text, parser, tools)
  const markup = markupIn(text, calls, thinks, parser)
  const dropped = [
    ...calls.flatMap((call) => (call.kind === 'parsed' ? droppedInCall(call) : [])),
    ...droppedTags(calls, markup),
  ].sort((a, b) => a.start - b.start)
  const placeAt = createPositionFinder(text)
  return {
    parser: parser.name,
    tiles: tilesOf(text, { calls, thinks, markup }, dropped),
    calls: calls.map((call) => readCall(text, call, tools, placeAt)),
    thinking: thinks,
    rest: textWithoutCalls(text, calls, thinks, parser),
    dropped,
    drafted: draftedIn(text, thinks, parser, tools),
  }
}

/**
 * Returns the calls of a text without ids, and the think blocks in which calls do not count. A text that first closes a think block, outside
 * of calls, begins in one that the prompt has opened.
 */
export function parseCompletion(
  text: string,
  parser: ToolParser,
  tools: readonly ToolSpec[],
): { readonly calls: readonly ParsedCall[]; readonly thinks: readonly ThinkBlock[] } {
  const delimiters = thinkDelimitersIn(text)
  const read = (opened: boolean) => {
    const thinks = thinkBlocks(text, delimiters, opened, parser.delimiters)
    return { calls: parser.parse(text, thinks, tools), thinks }
  }
  const completion = read(false)
  const [first] = delimiters
  const closes = first !== undefined && THINK_ENDS.includes(text.slice(first.start, first.end))
  const isInCall = createRangeCheck(completion.calls.flatMap((call) => (call.kind === 'parsed' ? call.text : [])))
  return closes && !isInCall(first.start) ? read(true) : completion
}

function readCall(
  text: string,
  call: ParsedCall,
  tools: readonly ToolSpec[],
  placeAt: (offset: number) => TextPosition,
): ParsedCallResult {
  const place = {
    span: { start: call.text.start, end: call.text.end },
    raw: call.raw,
    ...(call.writtenId !== undefined && { writtenId: call.writtenId }),
  }
  if (call.kind === 'malformed') {
    const { name, why, at } = call
    return { kind: 'malformed', ...place, ...(name !== undefined && { name }), why, at: placeAt(at) }
  }
  const fault = callFault(call, tools)
  return {
    kind: 'parsed',
    ...place,
    name: call.name,
    arguments: readArguments(text, call, tools),
    isKnown: tools.length === 0 ? undefined : tools.some(({ name }) => name === call.name),
    ...(fault !== undefined && { fault }),
  }
}

function draftedIn(
  text: string,
  thinks: readonly ThinkBlock[],
  parser: ToolParser,
  tools: readonly ToolSpec[],
): readonly Drafted[] {
  return thinks.flatMap((block) =>
    parser
      .parse(text.slice(block.start, block.end), [], tools)
      .flatMap((call) =>
        call.kind === 'parsed'
          ? [{ start: block.start + call.text.start, end: block.start + call.text.end, name: call.name }]
          : [],
      ),
  )
}
