/**
 * TRL's own question about a template: `is_chat_template_prefix_preserving` of `trl.chat_template_utils` (1.16.0). It applies if
 * `supports_tool_calling` says that the template prints calls and results. Its conversation is a question, a call and its result, without
 * tools, options and thinking; the render with the result must begin with the render without it.
 */
import type { TemplateMessage } from '#lib/templates/chat-template.ts'
import { windowAround } from '../finding.ts'
import type { TrlVerdict } from '../report.ts'
import { type RenderResult, renderTurn, type Subject } from '../subject.ts'

/** Returns TRL's verdict. Like TRL, it ignores the given tools and options. */
export function trlVerdict({ template, tokenizer }: Pick<Subject, 'template' | 'tokenizer'>): TrlVerdict {
  const render: Render = (messages, addGenerationPrompt) =>
    renderTurn({ template, tools: undefined, options: {} }, messages, addGenerationPrompt)
  const support = orWithText((isText) => render(conversation(SENTINELS, isText), false))
  if (!support.ok) {
    const { error } = support
    return JINJA_ERRORS.has(error.className)
      ? { kind: 'notAsked', why: `The template refuses a conversation with a call and its result: ${error.message}` }
      : { kind: 'failed', failure: error }
  }
  const { text } = support.rendering
  const missing = Object.values(SENTINELS).filter((sentinel) => !text.includes(sentinel))
  if (missing.length > 0)
    return {
      kind: 'notAsked',
      why: `The template does not print ${missing.map((sentinel) => NAMES[sentinel]).join(' and ')} of a tool call.`,
    }
  return trlVerdictOf(render, tokenizer)
}

type Render = (messages: readonly TemplateMessage[], addGenerationPrompt: boolean) => RenderResult

function trlVerdictOf(render: Render, tokenizer: Subject['tokenizer']): TrlVerdict {
  const pair = orWithText((isText): { readonly ok: true; readonly texts: readonly string[] } | Failure => {
    const messages = conversation(DUMMIES, isText)
    const before = render(messages.slice(0, -1), false)
    if (!before.ok) return before
    const after = render(messages, true)
    return after.ok ? { ok: true, texts: [before.rendering.text, after.rendering.text] } : after
  })
  if (!pair.ok) return { kind: 'failed', failure: pair.error }
  const [before, after] = pair.texts.map(tokenizer.encode) as [number[], number[]]
  const tokenIndex = before.findIndex((id, index) => id !== after[index])
  return tokenIndex < 0
    ? { kind: 'preserving', tokens: before.length }
    : {
        kind: 'rewritten',
        tokenIndex,
        before: windowAround(before, tokenIndex, tokenizer),
        after: windowAround(after, tokenIndex, tokenizer),
      }
}

type Failure = Extract<RenderResult, { ok: false }>

/** Tries again with arguments as JSON text if an object raises a TypeError. */
function orWithText<Result extends { readonly ok: true }>(
  attempt: (isText: boolean) => Result | Failure,
): Result | Failure {
  const first = attempt(false)
  return !first.ok && first.error.className === 'TypeError' ? attempt(true) : first
}

interface Parts {
  readonly name: string
  readonly key: string
  readonly value: string
  readonly content: string
}

const SENTINELS: Parts = {
  name: 'tool_name_a8f3e2b1',
  key: 'tool_arg_key_b9d4f5c2',
  value: 'tool_arg_val_d6e7a9f3',
  content: 'tool_content_c4f9a8e2',
}
const NAMES: Readonly<Record<string, string>> = {
  [SENTINELS.name]: 'the name',
  [SENTINELS.key]: 'the argument names',
  [SENTINELS.value]: 'the argument values',
  [SENTINELS.content]: 'the result',
}
const DUMMIES: Pick<Parts, 'name' | 'content'> = { name: 'dummy', content: 'dummy' }

function conversation(parts: Pick<Parts, 'name' | 'content'> & Partial<Parts>, isText: boolean): TemplateMessage[] {
  const { name, key, value, content } = parts
  const input = key === undefined ? {} : { [key]: value }
  // Python's json.dumps and TRL's own literal write the same text.
  const json = key === undefined ? '{}' : `{"${key}": "${value}"}`
  const call = { type: 'function', function: { name, arguments: isText ? json : input } }
  return [
    { role: 'user', content: key === undefined ? 'dummy' : 'hi' },
    { role: 'assistant', content: '', tool_calls: [call] },
    { role: 'tool', name, content } as TemplateMessage,
  ]
}

/** jinja2.TemplateError and its subclasses, which TRL treats as a refusal. */
const JINJA_ERRORS: ReadonlySet<string> = new Set([
  'TemplateError',
  'TemplateSyntaxError',
  'TemplateAssertionError',
  'TemplateNotFound',
  'TemplateRuntimeError',
  'UndefinedError',
  'SecurityError',
  'FilterArgumentError',
])
