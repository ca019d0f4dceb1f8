/** Checks the body of /v1/completions: the JSON types of its fields, then their values as SGLang does. */
import { generateSamplingSchema, type SamplingParams } from '#lib/builtin-server/generate/sampling-params.ts'
import {
  BOOLEAN,
  fieldsOf,
  type StreamRequest,
  streamRequest,
  TEXT,
  WHOLE,
} from '#lib/builtin-server/http/body-fields.ts'
import { checkFields, isListOf, isText, isWhole } from '#lib/builtin-server/http/json-body.ts'
import { badBody, HttpRefusal } from '#lib/builtin-server/http/refusal.ts'
import { grammarFields } from './grammar-fields.ts'
import { samplerFields } from './sampler-fields.ts'

/** The body after its checks. */
export interface CompletionBody {
  readonly model: string
  readonly prompt: CompletionPrompt
  readonly sampling: SamplingParams
  /** Number of replies to each prompt. */
  readonly count: number
  readonly stream: StreamRequest | undefined
  /** Whether replies begin with their prompt. */
  readonly echoes: boolean
  /** Number of alternatives at each token; undefined: no logprobs. */
  readonly logprobs: number | undefined
  readonly returnsIds: boolean
  readonly rid: string | readonly string[] | undefined
}

/** One or several prompts; a list has a reply for each of them. */
type CompletionPrompt =
  | { readonly kind: 'text'; readonly text: string | readonly string[] }
  | { readonly kind: 'ids'; readonly ids: readonly number[] | readonly (readonly number[])[] }

/** Returns the checked body. Throws HttpRefusal. */
export function completionBody(body: Readonly<Record<string, unknown>>): CompletionBody {
  const field = fieldsOf(body)
  const prompt = promptOf(body.prompt)
  const flag = (name: string): boolean => field(name, BOOLEAN) ?? false
  if (body.max_tokens === null) throw badBody(WHOLE.type, ['max_tokens'], WHOLE.message)
  const maxTokens = field('max_tokens', WHOLE) ?? DEFAULT_MAX_TOKENS
  if (maxTokens <= 0) throw badBody('value_error', ['max_tokens'], 'Value error, max_tokens must be positive')
  const count = field('n', WHOLE) ?? 1
  const read: CompletionBody = {
    model: field('model', TEXT) ?? 'default',
    prompt,
    sampling: checkFields(generateSamplingSchema, {
      max_new_tokens: maxTokens,
      ...samplerFields(field, body),
      skip_special_tokens: field('skip_special_tokens', BOOLEAN),
      n: count,
      ...grammarFields(body),
      ...(field('json_schema', TEXT) !== undefined && { json_schema: body.json_schema }),
    }),
    count: Math.max(1, count),
    stream: streamRequest(body),
    echoes: flag('echo'),
    logprobs: field('logprobs', WHOLE),
    returnsIds: flag('return_token_ids'),
    rid: isListOf(isText)(body.rid) ? body.rid : field('rid', TEXT),
  }
  if (isEmpty(prompt)) throw new HttpRefusal('chat', 'Prompt cannot be empty')
  const unsupported = UNSUPPORTED.find((name) => (body[name] ?? false) !== false)
  if (unsupported) throw new HttpRefusal('chat', `${unsupported} is set, but the built-in server does not support it.`)
  return read
}

/** OpenAI's own default. */
const DEFAULT_MAX_TOKENS = 16

/** Fields that are refused. SGLang silently ignores a suffix for models that cannot use it. */
const UNSUPPORTED = [
  'suffix',
  'lora_path',
  'session_params',
  'custom_logit_processor',
  'watermark',
  'return_hidden_states',
  'return_routed_experts',
] as const

function promptOf(prompt: unknown): CompletionPrompt {
  if (prompt === undefined) throw badBody('missing', ['prompt'], 'Field required')
  if (isText(prompt) || isListOf(isText)(prompt)) return { kind: 'text', text: prompt }
  if (isListOf(isWhole)(prompt) || isListOf(isListOf(isWhole))(prompt)) return { kind: 'ids', ids: prompt }
  throw badBody(
    'value_error',
    ['prompt'],
    'Value error, expected a text, a list of texts, a list of ids or a list of lists of ids',
  )
}

const isEmpty = (prompt: CompletionPrompt): boolean => {
  const all: readonly (string | number | readonly number[])[] =
    prompt.kind === 'ids' ? prompt.ids : [prompt.text].flat()
  return all.every((one) => typeof one !== 'number' && one.length === 0)
}
