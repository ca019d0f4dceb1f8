/** Tool calls in a text, as each parser finds them. */
import * as z from 'zod'
import { schemas } from '#lib/core/trajectory.ts'
import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { parserNamed, parserNames } from '#lib/parsers/registry.ts'
import { textWithoutCalls } from '#lib/parsers/rest.ts'
import { thinkBlocks, thinkDelimitersIn } from '#lib/parsers/thinking.ts'
import { callId } from '#lib/tito/record.ts'
import { Problem } from './problem.ts'

export const parseRequestSchema = z.strictObject({
  text: z
    .string()
    .describe(
      'What a model wrote. Think blocks are found by <think> and </think> in the text, since there are no ids: in a ' +
        'trajectory one that was spelled out is told from the token.',
    ),
  parsers: z
    .array(z.string())
    .min(1)
    .max(parserNames.length)
    .readonly()
    .exactOptional()
    .describe(`Of ${parserNames.join(', ')}. Omitted: all of them.`),
  tools: z
    .array(schemas.toolSpec)
    .exactOptional()
    .describe('Their schemas type the values of qwen_xml and glm. Omitted: what decodes as JSON is decoded.'),
})

const span = z.object({ start: z.int(), end: z.int() }).describe('Half-open range of UTF-16 code units of the text.')
const place = {
  id: z.string().describe('Ours, by place.'),
  writtenId: z.string().optional().describe('The one that the model wrote, in formats that have ids.'),
  raw: z.string().describe('What stands between the delimiters.'),
  span: span.describe('The whole call, delimiters included.'),
}
const call = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('parsed'),
    ...place,
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    arguments: z.array(z.object({ name: z.string(), span })).describe('Where the values stand.'),
  }),
  z.object({
    kind: z.literal('malformed'),
    ...place,
    name: z.string().optional().describe('Omitted: none could be read.'),
    why: z.string(),
    at: z.int().describe('Offset at which it went wrong.'),
  }),
])
export const parseAnswerSchema = z.object({
  results: z.array(
    z.object({
      parser: z.string(),
      calls: z.array(call).describe('In order, malformed ones too.'),
      rest: z.string().describe('The text without calls, and without the tags around runs of calls.'),
    }),
  ),
})

export function parseText({
  text,
  parsers = parserNames,
  tools = [],
}: z.infer<typeof parseRequestSchema>): z.infer<typeof parseAnswerSchema> {
  const delimiters = thinkDelimitersIn(text)
  return {
    results: parsers.map(parserOrProblem).map((parser) => {
      const thinks = thinkBlocks(text, delimiters, false, parser.delimiters)
      const calls = parser.parse(text, thinks, tools)
      return {
        parser: parser.name,
        calls: calls.map(toldCall),
        rest: textWithoutCalls(text, calls, thinks, parser.delimiters),
      }
    }),
  }
}

function toldCall(found: ParsedCall, index: number): z.infer<typeof call> {
  const { raw, writtenId } = found
  const place = {
    id: callId(index),
    ...(writtenId !== undefined && { writtenId }),
    raw,
    span: toldRange(found.text),
  }
  if (found.kind === 'malformed') {
    const { name, why, at } = found
    return { kind: 'malformed', ...place, ...(name !== undefined && { name }), why, at }
  }
  const named = found.arguments.map((argument) => ({ name: argument.name, span: toldRange(argument.text) }))
  return { kind: 'parsed', ...place, name: found.name, input: { ...found.input }, arguments: named }
}

const toldRange = ({ start, end }: TextRange) => ({ start, end })

/** Throws Problem 422. */
export function parserOrProblem(name: string): ToolParser {
  const parser = parserNamed(name)
  if (!parser)
    throw new Problem({
      status: 422,
      code: 'NO_PARSER',
      detail: `there is no tool-call parser named ${JSON.stringify(name)}`,
      hint: `Parsers: ${parserNames.join(', ')}.`,
    })
  return parser
}
