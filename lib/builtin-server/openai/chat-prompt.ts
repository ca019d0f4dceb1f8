/**
 * Converts the messages of a chat request to the ids of its prompt exactly as SGLang 0.5.23 does, because the parts that it omits, adds and
 * parses again cause the drift of a conversation. Recordings of SGLang's prompts are the tests.
 */
import { badBody, HttpRefusal } from '#lib/builtin-server/http/refusal.ts'
import { JsonError } from '#lib/json/json-reader.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import { PyDict, PyFloat, type Value } from '#lib/templates/jinja/python/values.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { ChatBody } from './chat-body.ts'

/** Runs a computation with the tokenizer, which has no other effect than its result and may run several times. */
export type RepeatableComputation = <T>(
  tokenizer: LoadedTokenizer,
  compute: (tokenizer: LoadedTokenizer) => T,
) => Promise<T>

/** Returns the ids of the prompt. `text` is the body as it arrived, read again with Python's numbers. Throws HttpRefusal. */
export function chatPrompt(
  text: string,
  { announced, templateOptions }: Pick<ChatBody, 'announced' | 'templateOptions'>,
  { tokenizer, template }: LoadedTokenizer,
): readonly number[] {
  const body = readJson(text) as PyDict
  const messages = withoutLastReply((body.get('messages') as readonly Value[]).map(templateMessage))
  const names = new Set<unknown>(announced.map(({ name }) => name))
  const chat = template(names.size > 0)
  if (!chat) throw new HttpRefusal('messages', 'The tokenizer has no chat template.')
  const options = body.get('chat_template_kwargs')
  try {
    const rendered = chat.render({
      messages,
      tools: names.size > 0 ? toolsNamed(names, body.get('tools') as readonly Value[]).map(templateTool) : undefined,
      addGenerationPrompt: true,
      options:
        options instanceof PyDict
          ? Object.fromEntries([...options.entries()].map(([name, value]) => [String(name), value]))
          : templateOptions,
    })
    return tokenizer.encode(rendered)
  } catch (error) {
    if (error instanceof TemplateError) throw new HttpRefusal('messages', error.message)
    throw error
  }
}

const ROLES = ['system', 'assistant', 'tool', 'function', 'developer', 'latest_reminder', 'root'] as const

/** Fields of a message in the order of SGLang's own class; a null field is absent, except for the content. */
const FIELDS = ['tool_call_id', 'name', 'phase', 'reasoning_content'] as const

function templateMessage(message: Value, index: number): PyDict {
  const source = message instanceof PyDict ? message : new PyDict()
  const written = source.get('role')
  const role = typeof written === 'string' && written !== 'user' ? written.toLowerCase() : written
  if (role !== 'user' && !ROLES.some((one) => one === role))
    throw badBody(
      'value_error',
      ['messages', index, 'role'],
      `Value error, 'role' must be one of ${['user', ...ROLES].map((one) => `'${one}'`).join(', ')}.`,
    )
  const content = source.get('content') ?? ''
  const normalized = new PyDict()
  normalized.set('role', role as string)
  normalized.set('content', contentOf(content, index))
  if (role === 'user') return normalized
  for (const name of FIELDS) {
    const value = source.get(name) ?? null
    if (value !== null) normalized.set(name, value)
  }
  const calls = source.get('tool_calls')
  if (Array.isArray(calls)) normalized.set('tool_calls', calls.map(templateCall))
  return normalized
}

/** Returns the content as one text; parts of text are joined with a space. */
function contentOf(content: Value, index: number): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content))
    throw badBody('string_type', ['messages', index, 'content'], 'Input should be a valid string')
  return content
    .map((part: Value) => {
      const type = part instanceof PyDict ? part.get('type') : undefined
      const text = part instanceof PyDict ? part.get('text') : undefined
      if (type === 'text' && typeof text === 'string') return text
      throw new HttpRefusal(
        'chat',
        `Model only supports text input; received unsupported content type '${String(type)}'.`,
      )
    })
    .join(' ')
}

function templateCall(call: Value): PyDict {
  const source = call instanceof PyDict ? call : new PyDict()
  const called = source.get('function')
  const name = called instanceof PyDict ? (called.get('name') ?? null) : null
  const args = called instanceof PyDict ? (called.get('arguments') ?? null) : null
  return PyDict.of([
    ['id', source.get('id') ?? null],
    ['index', source.get('index') ?? null],
    ['type', 'function'],
    [
      'function',
      PyDict.of([
        ['name', name],
        ['arguments', typeof args === 'string' ? parsedArguments(args) : args],
      ]),
    ],
  ])
}

/**
 * Returns the arguments of a call as an object: they are a JSON text in requests, but an object for templates. SGLang reads them with
 * orjson.
 */
function parsedArguments(text: string): PyDict {
  let value: Value
  try {
    // Python's own reader accepts NaN, which orjson refuses as JavaScript does.
    JSON.parse(text)
    value = readJson(text)
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof JsonError)) throw error
    throw new HttpRefusal('messages', 'Assistant tool call function.arguments must be valid JSON.')
  }
  if (value instanceof PyDict) return withOrjsonNumbers(value) as PyDict
  throw new HttpRefusal('messages', 'Assistant tool call function.arguments must be a JSON object.')
}

const LARGEST = 2n ** 64n - 1n
const SMALLEST = -(2n ** 63n)

/** Converts integers beyond 64 bits to floats, as orjson does. */
function withOrjsonNumbers(value: Value): Value {
  if (typeof value === 'bigint') return value > LARGEST || value < SMALLEST ? new PyFloat(Number(value)) : value
  if (Array.isArray(value)) return value.map(withOrjsonNumbers)
  if (value instanceof PyDict)
    return PyDict.of([...value.entries()].map(([key, item]) => [key, withOrjsonNumbers(item)] as const))
  return value
}

const FUNCTION_FIELDS = ['description', 'name', 'parameters', 'strict', 'defer_loading']

const toolsNamed = (names: ReadonlySet<unknown>, tools: readonly Value[]): readonly Value[] =>
  tools.filter((tool) => names.has(((tool as PyDict).get('function') as PyDict).get('name')))

/**
 * Returns a tool in the form that templates get from SGLang: the function's fields in their order, then missing fields as null, and
 * `defer_loading` beside the function. Tools of transformers have neither, so its prompts differ.
 */
function templateTool(tool: Value): PyDict {
  const source = tool as PyDict
  const called = source.get('function') as PyDict
  const normalized = new PyDict()
  for (const [name, value] of called.entries()) {
    const isLeftOut = value === null && (name === 'strict' || name === 'defer_loading')
    if (FUNCTION_FIELDS.includes(String(name)) && !isLeftOut) normalized.set(name, value)
  }
  for (const name of ['description', 'parameters']) if (!normalized.has(name)) normalized.set(name, null)
  return PyDict.of([
    ['type', source.get('type') ?? 'function'],
    ['function', normalized],
    ['defer_loading', source.get('defer_loading') ?? null],
  ])
}

/** Returns a conversation without a final reply, which the model gets as a question. */
function withoutLastReply(messages: readonly PyDict[]): readonly PyDict[] {
  const last = messages.at(-1)
  if (last?.get('role') !== 'assistant') return messages
  return [
    ...messages.slice(0, -1),
    PyDict.of([
      ['role', 'user'],
      ['content', last.get('content') as Value],
    ]),
  ]
}
