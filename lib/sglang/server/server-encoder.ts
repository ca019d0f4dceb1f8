/**
 * A codec for models whose tokenizer cannot be had: the server encodes, decodes and renders. Its answers are kept, and
 * what a computation lacks is fetched between two runs of it (Codec.settle), so that lib/rollout stays synchronous.
 */
import { createHash } from 'node:crypto'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { type ChatTemplate, chatTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import type { Budget } from '#lib/templates/jinja/rendering.ts'
import type { AddedToken, Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { createMemory, type Memory } from '#lib/util/bounded-memory.ts'
import { SglangError } from '../client/errors.ts'
import { bytesOfIds, type Decoding, findDecoding } from './server-bytes.ts'
import type { ServerTokenizer } from './server-tokenizer.ts'

export interface ServerPromptEncoderOptions {
  /** As the server names its tokenizer: a path of its own, mostly. */
  readonly name: string
  /** A chat template to be rendered here. Omitted: the server renders with its own. */
  readonly templateText?: string | undefined
  /** Where that template renders when it takes more than a budget. Omitted: here, however long it takes. */
  readonly slow?: SlowRenders | undefined
}

export interface SlowRenders {
  readonly budget: () => Budget
  /** Throws TemplateError. */
  readonly render: (template: string, input: RenderInput, signal: AbortSignal) => Promise<string>
}

export interface ServerPromptEncoder extends PromptEncoder {
  readonly settle: NonNullable<PromptEncoder['settle']>
  /** Of what the server's template writes behind a reply, hexadecimal; undefined where the template was given. */
  readonly templateFingerprint: string | undefined
}

/**
 * Throws SglangError: UPSTREAM_REJECTED where the server has no /tokenize. Throws TemplateError where no template was
 * given and the server renders none: the router and SGLang before 0.5.2x, or a tokenizer without a template.
 */
export async function openServerPromptEncoder(
  server: ServerTokenizer,
  { name, templateText, slow }: ServerPromptEncoderOptions,
  signal: AbortSignal,
): Promise<ServerPromptEncoder> {
  const [fixed, decoding] = await Promise.all([
    server.tokenize([...FINGERPRINT_TEXTS, ...WELL_KNOWN], signal),
    findDecoding(server, signal),
  ])
  const given = templateText === undefined ? undefined : givenTemplate(templateText, slow)
  const sample = await sampleRender(server, given, signal)
  const addedTokens = await findAddedTokens(server, [...fixed.flat(), ...sample.ids], signal)
  const known: Known = {
    texts: createMemory(MOST_CHARACTERS),
    renders: createMemory(MOST_CHARACTERS),
    bytes: new Map(addedTokens.map(({ id, content }) => [id, encoder.encode(content)])),
  }
  let collecting: Lack | undefined
  const lacking = (): Lack => {
    if (!collecting) throw new Error('the server’s codec was asked outside of settle')
    return collecting
  }
  const tokenizer: Tokenizer = {
    name,
    fingerprint: sha256(JSON.stringify(fixed.slice(0, FINGERPRINT_TEXTS.length))),
    vocabularySize: Number.POSITIVE_INFINITY,
    addedTokens,
    encode(text) {
      if (text === '') return []
      const ids = known.texts.get(text)
      if (ids) return [...ids]
      lacking().texts.add(text)
      throw new Lacking()
    },
    bytes(id) {
      const bytes = known.bytes.get(id)
      if (bytes) return bytes
      lacking().ids.add(id)
      return NOTHING
    },
  }
  const template: ChatTemplate = {
    text: templateText ?? '',
    render(input) {
      const quick = given?.quick(input)
      if (quick !== undefined) return quick
      const key = JSON.stringify(input)
      const rendered = known.renders.get(key)
      if (rendered instanceof TemplateError) throw rendered
      if (rendered !== undefined) return rendered
      lacking().renders.set(key, input)
      throw new Lacking()
    },
  }
  return {
    tokenizer,
    template,
    fetchesBytes: true,
    templateFingerprint: templateText === undefined ? sha256(sample.tail) : undefined,
    async settle(compute, signal) {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const lack: Lack = { texts: new Set(), renders: new Map(), ids: new Set() }
        collecting = lack
        try {
          const result = compute()
          if (isNothing(lack)) return result
        } catch (error) {
          if (isNothing(lack)) throw error
        } finally {
          collecting = undefined
        }
        await fetchInto(
          known,
          lack,
          given?.render ?? ((input, stop) => render(server, input, stop)),
          server,
          decoding,
          signal,
        )
      }
      throw new Error(`a computation on the server’s codec lacked something ${MOST_ROUNDS} times`)
    },
  }
}

/** Three renders and their encodings need seven. */
const MOST_ROUNDS = 32
/** Of texts and renders that are kept: a few whole conversations at the length of a long context. */
const MOST_CHARACTERS = 8_000_000
/** Ids asked for in one request. */
const MOST_IDS = 2048

const NOTHING = new Uint8Array()
const encoder = new TextEncoder()

interface Known {
  readonly texts: Memory<readonly number[]>
  /** A conversation that the template refuses is refused again without asking. */
  readonly renders: Memory<string | TemplateError>
  /** At most one entry for each id of the vocabulary. */
  readonly bytes: Map<number, Uint8Array>
}

/** What a computation asked for and did not get. */
interface Lack {
  readonly texts: Set<string>
  readonly renders: Map<string, RenderInput>
  readonly ids: Set<number>
}

/** Leaves a computation that cannot go on; never seen outside of settle. */
class Lacking extends Error {
  override readonly name = 'Lacking'
}

const isNothing = ({ texts, renders, ids }: Lack): boolean => texts.size + renders.size + ids.size === 0

async function fetchInto(
  known: Known,
  { texts, renders, ids }: Lack,
  renderOf: (input: RenderInput, signal: AbortSignal) => Promise<Rendered | TemplateError>,
  server: ServerTokenizer,
  decoding: Decoding,
  signal: AbortSignal,
): Promise<void> {
  const askedTexts = [...texts]
  const encoded = await server.tokenize(askedTexts, signal)
  for (const [index, text] of askedTexts.entries()) known.texts.set(text, encoded[index] ?? [], text.length)
  for (const [key, input] of renders) {
    const rendered = await renderOf(input, signal)
    if (rendered instanceof TemplateError) {
      known.renders.set(key, rendered, key.length)
      continue
    }
    known.renders.set(key, rendered.text, key.length + rendered.text.length)
    // The ids of a whole prompt are those that the server made of it, not those of its text encoded again.
    if (rendered.ids) known.texts.set(rendered.text, rendered.ids, rendered.text.length)
  }
  const askedIds = [...ids]
  for (let from = 0; from < askedIds.length; from += MOST_IDS) {
    const part = askedIds.slice(from, from + MOST_IDS)
    const bytes = await bytesOfIds(server, part, decoding, signal)
    for (const [index, id] of part.entries()) known.bytes.set(id, bytes[index] ?? NOTHING)
  }
}

interface Rendered {
  /** Undefined: the text was not rendered by the server, which is asked for its ids. */
  readonly ids: readonly number[] | undefined
  readonly text: string
}

/** A template that was given: `quick` is undefined for what has to be left to `render`. */
interface GivenTemplate {
  quick(input: RenderInput): string | undefined
  render(input: RenderInput, signal: AbortSignal): Promise<Rendered | TemplateError>
}

function givenTemplate(text: string, slow: SlowRenders | undefined): GivenTemplate {
  const template = chatTemplate(text, {})
  // Trying takes the whole budget: it is not done twice.
  let isSlow = false
  return {
    quick(input) {
      if (!slow) return template.render(input)
      if (isSlow) return undefined
      try {
        return template.render(input, slow.budget())
      } catch (error) {
        if (!(error instanceof TemplateError) || error.className !== 'BudgetError') throw error
        isSlow = true
        return undefined
      }
    },
    async render(input, signal) {
      try {
        return { text: slow ? await slow.render(text, input, signal) : template.render(input), ids: undefined }
      } catch (error) {
        if (error instanceof TemplateError) return error
        throw error
      }
    },
  }
}

async function render(
  server: ServerTokenizer,
  input: RenderInput,
  signal: AbortSignal,
): Promise<Rendered | TemplateError> {
  try {
    const ids = await server.tokenizeMessages(input, signal)
    const [text = ''] = await server.detokenize([ids], 'with special tokens', signal)
    return { ids, text }
  } catch (error) {
    if (!(error instanceof SglangError) || error.code !== 'UPSTREAM_REJECTED') throw error
    return new TemplateError(error.message, { cause: error })
  }
}

const PLACEHOLDER = 'SAMPLE-REPLY'

/** A short conversation as the template writes it: its ids, and what stands behind the reply in it. */
async function sampleRender(
  server: ServerTokenizer,
  given: GivenTemplate | undefined,
  signal: AbortSignal,
): Promise<{ readonly ids: readonly number[]; readonly tail: string }> {
  const input: RenderInput = {
    messages: [
      { role: 'user', content: 'U' },
      { role: 'assistant', content: PLACEHOLDER },
      { role: 'user', content: 'V' },
    ],
    tools: undefined,
    addGenerationPrompt: true,
    options: {},
  }
  if (given) {
    const quick = given.quick(input)
    const rendered = quick === undefined ? await given.render(input, signal) : { text: quick }
    if (rendered instanceof TemplateError) throw rendered
    const [ids = []] = await server.tokenize([rendered.text], signal)
    return { ids, tail: '' }
  }
  const rendered = await render(server, input, signal)
  if (rendered instanceof TemplateError) throw rendered
  return { ids: rendered.ids ?? [], tail: rendered.text.slice(rendered.text.indexOf(PLACEHOLDER) + PLACEHOLDER.length) }
}

/** Those of some ids whose text is that id alone and that decoding can skip, or that are delimiters by their text. */
async function findAddedTokens(
  server: ServerTokenizer,
  candidates: readonly number[],
  signal: AbortSignal,
): Promise<AddedToken[]> {
  const ids = [...new Set(candidates)].sort((a, b) => a - b)
  const lists = ids.map((id) => [id])
  const [whole, skipped] = await Promise.all([
    server.detokenize(lists, 'with special tokens', signal),
    server.detokenize(lists, 'without special tokens', signal),
  ])
  const tokens = ids.map(
    (id, i): AddedToken => ({ id, content: whole[i] ?? '', special: whole[i] !== '' && skipped[i] === '' }),
  )
  const found = tokens.filter(({ content, special }) => special || IS_WELL_KNOWN.has(content))
  const again = await server.tokenize(
    found.map(({ content }) => content),
    signal,
  )
  return found.filter(({ id }, i) => again[i]?.length === 1 && again[i]?.[0] === id)
}

/** Delimiters in use; those that a tokenizer has as one id are its added tokens, as far as can be told from outside. */
const WELL_KNOWN: readonly string[] = [
  ...['<think>', '</think>', '[THINK]', '[/THINK]', '◁think▷', '◁/think▷'],
  ...['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<tools>', '</tools>'],
  ...['<arg_key>', '</arg_key>', '<arg_value>', '</arg_value>', '<|python_tag|>', '[TOOL_CALLS]', '[ARGS]'],
  ...['[TOOL_RESULTS]', '[/TOOL_RESULTS]', '[AVAILABLE_TOOLS]', '[/AVAILABLE_TOOLS]', '[INST]', '[/INST]'],
  ...['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>', '<|tool_call_begin|>', '<|tool_call_end|>'],
  ...['<|tool_call_argument_begin|>', '<｜tool▁calls▁begin｜>', '<｜tool▁calls▁end｜>', '<｜tool▁call▁begin｜>'],
  ...['<｜tool▁call▁end｜>', '<｜tool▁sep｜>', '<｜User｜>', '<｜Assistant｜>', '<｜end▁of▁sentence｜>'],
  ...['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '<|end_of_text|>', '<|end|>'],
  ...['<|start_header_id|>', '<|end_header_id|>', '<|begin_of_text|>', '<start_of_turn>', '<end_of_turn>'],
  ...['<|start|>', '<|message|>', '<|channel|>', '<|call|>', '<|return|>', '<|constrain|>', '<|system|>'],
  ...['<|user|>', '<|assistant|>', '<|observation|>', '<|im_user|>', '<|im_assistant|>', '<|im_system|>'],
  ...['<|im_middle|>', '<s>', '</s>', '<bos>', '<eos>', '<pad>', '<unk>', '[gMASK]', '<sop>'],
]
const IS_WELL_KNOWN: ReadonlySet<string> = new Set(WELL_KNOWN)

/** Never to be changed: trajectories are recognised by the ids of these. */
const FINGERPRINT_TEXTS: readonly string[] = [
  'The quick brown fox jumps over 13 lazy dogs; 31415926535 of 2,718 don’t.',
  '  def f(x):\n\treturn {"a": [x, -1.5e-3]}\r\n\n\n',
  'Ünïcödé ж 日本語 한국어 עברית नमस्ते 🙂👩‍🚀 \u{50005}',
  'ALLCAPS camelCase snake_case https://example.org/?q=1#x',
  '<think> <|im_start|> <|eot_id|> </s> <tool_call> [INST]',
]

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
