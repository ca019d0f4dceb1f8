/** Serves /parse_function_call and /separate_reasoning, which parse a text without a model. */
import { BOOLEAN, fieldsOf, LIST, TEXT } from '#lib/builtin-server/http/body-fields.ts'
import { readJsonObject } from '#lib/builtin-server/http/json-body.ts'
import { badBody, badValue } from '#lib/builtin-server/http/refusal.ts'
import { trimStart } from '#lib/templates/jinja/python/text/code-points.ts'
import { functionCalls } from './function-calls.ts'
import { type ReasoningFormat, splitReasoning } from './reasoning.ts'
import { toolSpecs } from './tool-specs.ts'

/** Answers /parse_function_call. Throws HttpRefusal; SGLang fails with 500 on an unknown parser. */
export async function parseFunctionCall(request: Request): Promise<Response> {
  const body = await readJsonObject(request, 'ParseFunctionCallReq')
  const field = fieldsOf(body)
  const text = field('text', TEXT)
  if (text === undefined) throw badBody('missing', ['text'], 'Field required')
  const tools = toolSpecs(field('tools', LIST))
  const parser = field('tool_call_parser', TEXT)
  const found = functionCalls(text, tools, parser ?? '')
  if (!found) throw badValue(`Unsupported tool_call_parser: ${parser ?? 'none'}`)
  return Response.json(found)
}

/** Answers /separate_reasoning. Throws HttpRefusal. */
export async function separateReasoning(request: Request): Promise<Response> {
  const body = await readJsonObject(request, 'SeparateReasoningReqInput')
  const field = fieldsOf(body)
  const text = field('text', TEXT)
  const parser = field('reasoning_parser', TEXT)
  const returnsBlocks = field('return_blocks', BOOLEAN) ?? false
  if (text === undefined) throw badBody('missing', ['text'], 'Field required')
  if (parser === undefined) throw badBody('missing', ['reasoning_parser'], 'Field required')
  const format = FORMATS.get(parser.toLowerCase())
  if (!format) throw badValue(`Unsupported model type: ${parser}`)
  const { close, isOpen, mayCloseFirst = false } = format
  const trimmed = trimStart(text)
  const written = mayCloseFirst && trimmed.startsWith(close) ? trimmed.slice(close.length) : text
  const { reasoning, rest } = splitReasoning(written, format, isOpen)
  const blocks = [...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }]), { type: 'text', text: rest }]
  const texts = (type: string): string[] => blocks.filter((block) => block.type === type).map((block) => block.text)
  return Response.json({
    reasoning_text: reasoning,
    text: rest,
    ...(returnsBlocks && { reasoning_blocks: texts('reasoning'), text_blocks: texts('text'), blocks }),
  })
}

interface NamedFormat extends ReasoningFormat {
  /** Whether a text without delimiters is all reasoning. */
  readonly isOpen: boolean
  /** Whether a closing delimiter at the beginning of a text is removed. Omitted: it is not. */
  readonly mayCloseFirst?: boolean
}

const THINK = { open: '<think>', close: '</think>' } as const
const CALL = { call: '<tool_call>' } as const

/** Formats by SGLang's names. Parsers that do more than look for delimiters are missing. */
const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  (
    [
      [
        { ...THINK, ...CALL, isOpen: false },
        'qwen3 deepseek-v3 dots glm45 interns1 mimo nanbeige nemotron_3 poolside_v1',
      ],
      [{ ...THINK, ...CALL, isOpen: true }, 'qwen3-thinking minimax'],
      [{ ...THINK, isOpen: true }, 'deepseek-r1 gigachat35 iquest_q1 step3 step3p5'],
      [{ ...THINK, call: '<|tool_calls_section_begin|>', isOpen: false }, 'kimi_k2'],
      [{ open: '◁think▷', close: '◁/think▷', isOpen: false }, 'kimi'],
      [{ open: '<mm:think>', close: '</mm:think>', isOpen: false, mayCloseFirst: true }, 'minimax-m3'],
      [{ open: '<|channel>', label: 'thought\n', close: '<channel|>', isOpen: false }, 'gemma4'],
      [{ open: '[THINK]', close: '[/THINK]', isOpen: false }, 'mistral'],
    ] as const
  ).flatMap(([format, names]) => names.split(' ').map((name) => [name, format] as const)),
)
