/** Selects the chat template of a side: the chosen one, the recorded one, or the tokenizer's own. */

import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import { type InputError, orTemplateFailure } from '#lib/templates/document/input.ts'
import type { BuildResult, LoadedSide, SideTokenizer } from '../compare/shown-side.ts'
import type { Reconstruction } from '../compare/side.ts'

/** The compiled template, with caveats if it is not the expected one. */
export interface SideTemplate {
  readonly template: CompiledTemplate
  readonly caveats: readonly string[]
}

/** Returns the template of a side. A tokenizer that is named for the side brings its own template, unless a template is chosen. */
export function sideTemplate(
  { template: text, trajectory: { model } }: Pick<LoadedSide, 'template' | 'trajectory'>,
  { tokenizer: named }: Pick<Extract<Reconstruction, { kind: 'structured' | 'raw' }>, 'tokenizer'>,
  { compile, template }: SideTokenizer,
): BuildResult<SideTemplate> {
  const compiled = (source: string, caveats: readonly string[] = []): BuildResult<SideTemplate> => {
    const read = orTemplateFailure(() => compile(source))
    return read.ok ? { ok: true, value: { template: read.value, caveats } } : refusedTemplate(read.error)
  }
  if (text !== undefined) return compiled(text)
  const recorded = model.template?.text === '' ? undefined : model.template?.text
  if (named === undefined && recorded !== undefined) return compiled(recorded)
  const own = orTemplateFailure(() => template?.(model.tools.length > 0))
  if (!own.ok) return refusedTemplate(own.error)
  if (own.value)
    return { ok: true, value: { template: own.value, caveats: named === undefined ? [lacking(model)] : [] } }
  if (recorded !== undefined) return compiled(recorded, [WITHOUT_OWN])
  return {
    ok: false,
    why: 'There is no chat template: none is recorded, and the tokenizer has none.',
    hint: 'Choose a template: one of another tokenizer or trajectory, or the one in the template lab.',
  }
}

const lacking = ({ template }: LoadedSide['trajectory']['model']): string =>
  template
    ? 'The server rendered with its own chat template, whose text is unknown: the tokenizer’s own is used.'
    : 'No chat template is recorded: the tokenizer’s own is used.'

const WITHOUT_OWN = 'The tokenizer has no chat template: the recorded one is used.'

/** Returns the reason for a template or an input that failed: Python's message, with the line of the template. */
export function refusedTemplate({ where, className, message, line }: InputError): BuildResult<never> {
  const place = line === undefined ? '' : ` (line ${line} of the ${where})`
  return where === 'template'
    ? {
        ok: false,
        why: `The chat template refuses the conversation: ${className}: ${message}${place}.`,
        hint: 'A chat pipeline with this template would fail here too. Choose another template, or compare as text.',
      }
    : { ok: false, why: `The recorded ${where} cannot be read: ${className}: ${message}${place}.` }
}
