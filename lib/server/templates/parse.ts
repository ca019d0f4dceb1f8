/** Finds the tool calls of a text with each parser. */
import * as z from 'zod'
import type { ParsedCall, TextRange, ToolParser } from '#lib/parsers/parser.ts'
import { parserNamed, parserNames } from '#lib/parsers/registry.ts'
import { callIdAt } from '#lib/rollout/record/record.ts'
import { analyse, type ParsedCallResult, parseCompletion } from '#lib/templates/tool-parsing/analysis.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { HttpProblem } from '../http/problem.ts'

/** Schema of the body of POST /api/parse. */
export const parseRequestSchema = z.strictObject({
  text: z
    .string()
    .describe(
      'The completion of a model. Think blocks are found by <think> and </think> in the text, because there are no ids. In a ' +
        'trajectory, the ids distinguish the special token from the same text.',
    ),
  parsers: z
    .array(z.string())
    .min(1)
    .max(parserNames.length)
    .readonly()
    .exactOptional()
    .describe(`Parsers to use, of ${parserNames.join(', ')}. Omitted: all.`),
  tools: z
    .array(schemas.toolSpec)
    .exactOptional()
    .describe(
      'Their schemas define the types of values for qwen_xml and glm. Omitted: values that are valid JSON are decoded.',
    ),
})

const rangeShape = { start: z.int(), end: z.int() }
const span = z.object(rangeShape).describe('Half-open range of UTF-16 code units of the text.')
const place = {
  id: z.string().describe('Id of the call, numbered by position.'),
  writtenId: z.string().optional().describe('The id that the model wrote, in formats with ids.'),
  raw: z.string().describe('The text between the delimiters.'),
  span: span.describe('The whole call, including the delimiters.'),
}
const call = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('parsed'),
    ...place,
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    arguments: z.array(z.object({ name: z.string(), span })).describe('Positions of the values.'),
    fault: z
      .string()
      .optional()
      .describe('Why the arguments do not match the tool’s schema. Omitted: no violation was found.'),
  }),
  z.object({
    kind: z.literal('malformed'),
    ...place,
    name: z.string().optional().describe('Omitted: no name could be read.'),
    why: z.string(),
    at: z.int().describe('Offset of the error.'),
    line: z.int().describe('Line of that offset, from 1.'),
    column: z.int().describe('Column of that offset in code points, from 1.'),
  }),
])
/** Schema of the answer of POST /api/parse. */
export const parseAnswerSchema = z.object({
  results: z.array(
    z.object({
      parser: z.string(),
      calls: z.array(call).describe('Calls in order, including malformed ones.'),
      rest: z.string().describe('The text without calls, and without the tags around sections of calls.'),
      dropped: z
        .array(z.object({ ...rangeShape, why: z.string() }))
        .describe('Text that is neither in calls nor in rest, in order.'),
      thinking: z
        .array(z.object({ ...rangeShape, closed: z.boolean().describe('False: the text ends inside the block.') }))
        .describe(
          'Think blocks, including their delimiters. They remain in the rest, and their content is never a call.',
        ),
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
        calls: found.map((one, index) => callAnswer(one, elementAt(calls, index), index)),
        rest,
        dropped: [...dropped],
        thinking: [...thinking],
      }
    }),
  }
}

/** Returns a call for the answer. `found` comes from the parser; `read` adds its analysis. */
function callAnswer(found: ParsedCall, read: ParsedCallResult, index: number): z.infer<typeof call> {
  const { raw, writtenId } = found
  const place = {
    id: callIdAt(index),
    ...(writtenId !== undefined && { writtenId }),
    raw,
    span: rangeAnswer(found.text),
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
    arguments: values.map((argument) => ({ name: argument.name, span: rangeAnswer(argument.text) })),
    ...(fault !== undefined && { fault }),
  }
}

const rangeAnswer = ({ start, end }: TextRange) => ({ start, end })

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
