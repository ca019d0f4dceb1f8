/** What one parser makes of a completion: what it reads, leaves, drops and refuses. */

import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { markupIn, textWithoutCalls } from '#lib/parsers/reading/rest.ts'
import { type ThinkBlock, thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { callFault, type ReadArgument, readArguments } from './arguments.ts'
import { placesIn, type TextPosition } from './text-position.ts'
import { type Dropped, droppedInCall, droppedTags, type Tile, tilesOf } from './tiles.ts'

export interface Lane {
  readonly parser: string
  /** Together they are the text. */
  readonly tiles: readonly Tile[]
  readonly calls: readonly ReadCall[]
  readonly thinking: readonly ThinkBlock[]
  /** The text without calls, and without what the format writes around them. */
  readonly rest: string
  readonly dropped: readonly Dropped[]
  /** Calls that stand in think blocks, and therefore are none. */
  readonly drafted: readonly Drafted[]
}

export type ReadCall =
  | {
      readonly kind: 'parsed'
      readonly span: TextRange
      readonly raw: string
      readonly writtenId?: string
      readonly name: string
      readonly arguments: readonly ReadArgument[]
      /** Whether there is a tool of that name; undefined where no tools are given. */
      readonly isKnown: boolean | undefined
      /** Why the arguments do not fit the tool's schema. */
      readonly fault?: string
    }
  | {
      readonly kind: 'malformed'
      readonly span: TextRange
      readonly raw: string
      readonly writtenId?: string
      readonly name?: string
      /** What stands there, and what should. */
      readonly why: string
      readonly at: TextPosition
    }

interface Drafted extends TextRange {
  readonly name?: string
}

/** Think blocks are found by their text: there are no ids. Never throws. */
export function analyse(text: string, parser: ToolParser, tools: readonly ToolSpec[]): Lane {
  const { calls, thinks } = parsedText(text, parser, tools)
  const markup = markupIn(text, calls, thinks, parser)
  const dropped = [
    ...calls.flatMap((call) => (call.kind === 'parsed' ? droppedInCall(call) : [])),
    ...droppedTags(calls, markup),
  ].sort((a, b) => a.start - b.start)
  const placeAt = placesIn(text)
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

/** The calls of a text without ids, and the think blocks that shield what stands in them. */
export function parsedText(
  text: string,
  parser: ToolParser,
  tools: readonly ToolSpec[],
): { readonly calls: readonly ParsedCall[]; readonly thinks: readonly ThinkBlock[] } {
  const thinks = thinkBlocks(text, thinkDelimitersIn(text), false, parser.delimiters)
  return { calls: parser.parse(text, thinks, tools), thinks }
}

function readCall(
  text: string,
  call: ParsedCall,
  tools: readonly ToolSpec[],
  placeAt: (offset: number) => TextPosition,
): ReadCall {
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
