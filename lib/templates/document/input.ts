/** Reads the lab's texts as the input of a render. Numbers are read as Python reads them, so that 1.0 remains 1.0. */

import { JsonError } from '#lib/json/json-reader.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { type RenderInput, refusedOption, TemplateError } from '#lib/templates/chat-template.ts'
import { readJson } from '#lib/templates/jinja/python/json.ts'
import { truth } from '#lib/templates/jinja/python/operators.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'

/** An error in one of the lab's texts, with its position; line and column count from 1. */
export interface InputError {
  readonly where: 'template' | 'messages' | 'tools' | 'options'
  /** Class as Python names it: TemplateSyntaxError, UndefinedError, ValueError… */
  readonly className: string
  readonly message: string
  readonly line?: number
  readonly column?: number
}

/** A value, or an error in one of the lab's texts. */
export type ReadInput<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: InputError }

/** Reads messages, tools and options. Empty tools are None, empty options are none. */
export function readInput({ messages, tools, options }: Omit<LabInput, 'template'>): ReadInput<RenderInput> {
  const readMessages = dicts('messages', messages)
  if (!readMessages.ok) return readMessages
  if (readMessages.value.length === 0)
    return failureOf('messages', 'ValueError', 'a conversation needs at least one message')
  const readTools = ['', 'null'].includes(tools.trim())
    ? ({ ok: true, value: undefined } as const)
    : dicts('tools', tools)
  if (!readTools.ok) return readTools
  const readOptions = json('options', options.trim() === '' ? '{}' : options)
  if (!readOptions.ok) return readOptions
  if (!(readOptions.value instanceof PyDict))
    return failureOf('options', 'TypeError', 'the options are not an object of names and values')
  const named = Object.fromEntries(
    [...readOptions.value.entries()].map(([name, value]): [string, Value] => [String(name), value]),
  )
  const refused = Object.keys(named).flatMap((name) => refusedOption(name, 'render') ?? [])[0]
  if (refused !== undefined) return failureOf('options', 'TypeError', refused)
  const { add_generation_prompt: addGenerationPrompt, continue_final_message: continued = false, ...others } = named
  return {
    ok: true,
    value: {
      messages: readMessages.value,
      tools: readTools.value,
      addGenerationPrompt: truth(addGenerationPrompt ?? false),
      continueFinalMessage: typeof continued === 'string' ? continued : truth(continued),
      options: others,
    },
  }
}

/** Returns the error of a template as an error of the lab. */
export const templateFailure = ({ className, message, line }: TemplateError): InputError => ({
  where: 'template',
  className,
  message,
  ...(line !== undefined && { line }),
})

/** Returns the result, or the error that the template raised; other errors are thrown. */
export function orTemplateFailure<T>(action: () => T): ReadInput<T> {
  try {
    return { ok: true, value: action() }
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, error: templateFailure(error) }
    throw error
  }
}

function dicts(where: 'messages' | 'tools', text: string): ReadInput<readonly PyDict[]> {
  const read = json(where, text)
  if (!read.ok) return read
  if (!Array.isArray(read.value)) return failureOf(where, 'TypeError', `the ${where} are not a list`)
  const list: readonly Value[] = read.value
  const odd = list.findIndex((entry) => !(entry instanceof PyDict))
  if (odd >= 0) return failureOf(where, 'TypeError', `entry ${odd + 1} of the ${where} is not an object`)
  return { ok: true, value: list as readonly PyDict[] }
}

function json(where: InputError['where'], text: string): ReadInput<Value> {
  try {
    return { ok: true, value: readJson(text) }
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { message, line, column } = error
    return { ok: false, error: { where, className: 'JSONDecodeError', message, line, column } }
  }
}

const failureOf = (where: InputError['where'], className: string, message: string): ReadInput<never> => ({
  ok: false,
  error: { where, className, message },
})
