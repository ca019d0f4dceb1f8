/** Finds the tool calls of a text with each parser. */
import * as z from 'zod'
import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { parserNamed, parserNames } from '#lib/parsers/registry.ts'
import { callIdAt } from '#lib/rollout/record/record.ts'
import { analyse, parseCompletion, type ReadCall } from '#lib/templates/tool-parsing/analysis.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { HttpProblem } from '../http/problem.ts'

/** Schema of the body of POST /api/parse. */
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

const rangeShape = { start: z.int(), end: z.int() }
const span = z.object(rangeShape).describe('Half-open range of UTF-16 code units of the text.')
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
    fault: z
      .string()
      .optional()
      .describe('Why the arguments do not fit the tool’s schema. Omitted: nothing was found.'),
  }),
  z.object({
    kind: z.literal('malformed'),
    ...place,
    name: z.string().optional().describe('Omitted: none could be read.'),
    why: z.string(),
    at: z.int().describe('Offset at which it went wrong.'),
    line: z.int().describe('Of that offset, from 1.'),
    column: z.int().describe('In code points, from 1.'),
  }),
])
/** Schema of the answer of POST /api/parse. */
export const parseAnswerSchema = z.object({
  results: z.array(
    z.object({
      parser: z.string(),
      calls: z.array(call).describe('In order, malformed ones too.'),
      rest: z.string().describe('The text without calls, and without the tags around runs of calls.'),
      dropped: z
        .array(z.object({ ...rangeShape, why: z.string() }))
        .describe('Text that is in neither calls nor rest, in order.'),
      thinking: z
        .array(z.object({ ...rangeShape, closed: z.boolean().describe('False: the text ends inside the block.') }))
        .describe('Think blocks, delimiters included: they stay in the rest, and what stands in them is no call.'),
    }),
  ),
})

/** Returns the calls that each parser finds. Throws HttpProblem 422 for an unknown parser. */
export function parseRequestText({
  text,
  parsers = parserNames,
  tools = [],
}: z.infer<typeof parseRequestSchema>): z.infer<typeof parseAnswerSchema> {
  return {
    results: parsers.map(parserOrProblem).map((parser) => {
      const { calls, rest, dropped, thinking } = analyse(text, parser, tools)
      const found = parseCompletion(text, parser, tools).calls
      return {
        parser: parser.name,
        calls: found.map((one, index) => toldCall(one, elementAt(calls, index), index)),
        rest,
        dropped: [...dropped],
        thinking: [...thinking],
      }
    }),
  }
}

/** Returns a call for the answer. `found` comes from the parser; `read` adds its analysis. */
function toldCall(found: ParsedCall, read: ReadCall, index: number): z.infer<typeof call> {
  const { raw, writtenId } = found
  const place = {
    id: callIdAt(index),
    ...(writtenId !== undefined && { writtenId }),
    raw,
    span: toldRange(found.text),
  }
  if (read.kind === 'malformed') {
    const { name, why, at } = read
    const { offset, line, column } = at
    return { kind: 'malformed', ...place, ...(name !== undefined && { name }), why, at: offset, line, column }
  }
  const { input, arguments: values } = found as Extract<ParsedCall, { kind: 'parsed' }>
  const { name, fault } = read
  return {
    kind: 'parsed',
    ...place,
    name,
    input: { ...input },
    arguments: values.map((argument) => ({ name: argument.name, span: toldRange(argument.text) })),
    ...(fault !== undefined && { fault }),
  }
}

const toldRange = ({ start, end }: TextRange) => ({ start, end })

/** Returns the parser of this name. Throws HttpProblem 422. */
export function parserOrProblem(name: string): ToolParser {
  const parser = parserNamed(name)
  if (!parser)
    throw new HttpProblem({
      status: 422,
      code: 'NO_PARSER',
      detail: `there is no tool-call parser named ${JSON.stringify(name)}`,
      hint: `Parsers: ${parserNames.join(', ')}.`,
    })
  return parser
}
