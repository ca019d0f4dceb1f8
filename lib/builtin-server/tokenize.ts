/** Serves /tokenize and /detokenize. */
import * as z from 'zod'
import type { GenerateServing } from '#lib/builtin-server/generate/generate-endpoint.ts'
import {
  checkFields,
  field,
  isBoolean,
  isListOf,
  isOneOrList,
  isText,
  isWhole,
  readJsonObject,
} from '#lib/builtin-server/http/json-body.ts'
import { badBody, badValue } from '#lib/builtin-server/http/refusal.ts'
import { decodeIds, type Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import type { RepeatableComputation } from '#lib/builtin-server/openai/chat-prompt.ts'
import { isObject } from '#lib/json/json-object.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'

const isMessage = (value: unknown): value is { role: string; content: unknown } => isObject(value) && isText(value.role)

/** The field add_special_tokens is ignored: the tokenizers served here add none by themselves. */
const tokenizeSchema = z.looseObject({
  prompt: field('a string or a sequence of strings', isOneOrList(isText)),
  messages: field('a sequence of maps with a role', isListOf(isMessage)),
  tools: field('a sequence of maps', isListOf(isObject)),
  chat_template_kwargs: field('a map', isObject),
  add_generation_prompt: field('a boolean', isBoolean),
  continue_final_message: field('a boolean', isBoolean),
})

/** Returns the ids of a prompt, of a list of prompts, or of messages through the chat template. Throws HttpRefusal. */
export async function tokenize(
  request: Request,
  {
    tokenizer,
    settled,
    limits,
  }: Pick<GenerateServing, 'limits'> & { readonly tokenizer: LoadedTokenizer; readonly settled: RepeatableComputation },
): Promise<Response> {
  const body = checkFields(tokenizeSchema, await readJsonObject(request, 'TokenizeRequest'))
  const answer = (tokens: number[] | number[][], count: number | number[]): Response =>
    Response.json({ tokens, count, max_model_len: limits.contextLength })
  if (Array.isArray(body.prompt)) {
    const tokens: number[][] = []
    for (const prompt of body.prompt) tokens.push([...(await limits.encode(prompt))])
    return answer(
      tokens,
      tokens.map(({ length }) => length),
    )
  }
  const text = body.prompt
  const tokens = await settled(tokenizer, (own) => own.tokenizer.encode(text ?? renderMessages(body, own.template)))
  return answer(tokens, tokens.length)
}

function renderMessages(body: z.infer<typeof tokenizeSchema>, template: LoadedTokenizer['template']): string {
  const { messages, tools } = body
  if (!messages) throw badBody('missing', ['prompt'], 'Field required')
  if (body.continue_final_message)
    throw badValue('continue_final_message is set, but the built-in server cannot leave a message open.')
  const chat = template(tools !== undefined && tools.length > 0)
  if (!chat) throw badValue('The tokenizer has no chat template.')
  const addGenerationPrompt = body.add_generation_prompt ?? true
  try {
    return chat.render({ messages, tools, addGenerationPrompt, options: body.chat_template_kwargs ?? {} })
  } catch (error) {
    throw badValue(error instanceof Error ? error.message : String(error))
  }
}

const isIds = isListOf(isWhole)
const detokenizeSchema = z.looseObject({
  tokens: field(
    'a sequence of i64 or of such sequences',
    (value): value is number[] | number[][] => isIds(value) || isListOf(isIds)(value),
  ),
  skip_special_tokens: field('a boolean', isBoolean),
})

/** Returns the text of a list of ids, or the texts of a list of lists. Throws HttpRefusal. */
export async function detokenize(request: Request, vocabulary: Vocabulary): Promise<Response> {
  const { tokens, skip_special_tokens: skips } = checkFields(
    detokenizeSchema,
    await readJsonObject(request, 'DetokenizeRequest'),
  )
  if (!tokens) throw badBody('missing', ['tokens'], 'Field required')
  const text = (ids: readonly number[]): string =>
    decodeIds(vocabulary, ids, skips === false ? 'all' : 'no special tokens')
  return Response.json({ text: isIds(tokens) ? text(tokens) : tokens.map(text) })
}
